//! `cargo xtask lock`

use super::Session;
use super::bootstrap::From;
use crate::fetch::{self, Format, download_to};
use crate::files::{self, Named};
use crate::lock::{self, Archive, Channel, Host, Measured, Package, Part, Source, TreeFacts};
use crate::store;
use crate::ui::human_bytes;
use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::Path;

/// Show, check or extend toolchains.lock
#[derive(Debug, Args)]
pub(crate) struct Lock {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the toolchains and packages of the lock
    Show,
    /// Check the lock's form; with --online, download every archive of the toolchain again and compare
    Check {
        /// Download and measure again
        #[arg(long)]
        online: bool,
    },
    /// Download archives, measure them and write them into the lock as one package
    Add(Add),
}

/// What `lock add` writes.
#[derive(Debug, Args)]
struct Add {
    /// Name of the package; one of the same name and host is replaced, but for the sources of other channels
    name: String,
    /// `https://…`, `pip:NAME==VERSION[@PLATFORM]` or `deb:NAME[=VERSION]@SUITE`; several make one tree
    #[arg(required = true)]
    archives: Vec<String>,
    /// Version of the package [default: that of the first archive]
    #[arg(long, value_name = "VERSION")]
    package_version: Option<String>,
    /// Triple of the machine that runs it; none for headers and sources
    #[arg(long, value_name = "TRIPLE")]
    host: Option<String>,
    /// SPDX expression
    #[arg(long, value_name = "SPDX")]
    license: String,
    /// What it gives to a toolchain: compiler, hip, device-libs, cmake, ninja, composable-kernel
    #[arg(long, value_delimiter = ',', value_name = "PARTS")]
    provides: Vec<String>,
    /// Unpack only members below this path; may be given several times
    #[arg(long, value_name = "PATH")]
    only: Vec<String>,
    /// Print the entry and leave the lock as it is
    #[arg(long)]
    dry_run: bool,
}

impl Lock {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        match &self.action {
            Action::Show => show(session),
            Action::Check { online } => check(session, *online),
            Action::Add(add) => add.run(session),
        }
    }
}

fn show(session: &Session) -> anyhow::Result<()> {
    let lock = session.lock()?;
    let mut lines = Vec::new();
    for toolchain in &lock.toolchains {
        let targets = toolchain.targets.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        lines.push(format!("toolchain {} on {} (ROCm {})", toolchain.name, toolchain.host, toolchain.rocm));
        lines.push(format!("  packages  {}", toolchain.packages.join(" ")));
        lines.push(format!("  targets   {targets}"));
    }
    for package in &lock.packages {
        let host = package.host.map(|host| format!(" on {host}")).unwrap_or_default();
        lines.push(format!("package {} {}{host} ({})", package.name, package.version, package.license));
        for archive in package.sources.iter().flat_map(|source| &source.archives) {
            let size = archive.size.map_or("unknown size".into(), human_bytes);
            lines.push(format!("  {} {size:>12}  {}", archive.sha256.short(), archive.label()));
        }
    }
    let value = json!({
        "digest": lock.digest,
        "toolchains": lock.toolchains.iter().map(|t| json!({"name": t.name, "host": t.host.triple(), "packages": t.packages})).collect::<Vec<_>>(),
        "packages": lock.packages.iter().map(|p| json!({"name": p.name, "version": p.version})).collect::<Vec<_>>(),
    });
    session.ui.data(&lines.join("\n"), &value);
    Ok(())
}

fn check(session: &Session, online: bool) -> anyhow::Result<()> {
    let lock = session.lock()?;
    let mut measured = 0;
    if online {
        let selected = session.select(&lock)?;
        let context = session.fetching(&From::default());
        for package in selected.packages() {
            // A package that unpacks with the right hashes is what the lock says; the store is not touched.
            let folder = tempfile::tempdir()?;
            let path = |name: &str| folder.path().join(name);
            let (tree, scratch, partials) = (path("tree"), path("scratch"), path("partials"));
            let places = fetch::Places { tree: &tree, scratch: &scratch, partials: &partials };
            fetch::fetch_package(package, places, &context)
                .with_context(|| format!("package {} is not what the lock says", package.name))?;
            measured += 1;
            session.ui.phase("checked", &format!("{} {}", package.name, package.version));
        }
    }
    let (toolchains, packages) = (lock.toolchains.len(), lock.packages.len());
    let text = format!("ok  {toolchains} toolchains, {packages} packages, {measured} measured again");
    let value =
        json!({"toolchains": toolchains, "packages": packages, "measured": measured, "digest": lock.digest});
    session.ui.data(&text, &value);
    Ok(())
}

impl Add {
    fn run(&self, session: &Session) -> anyhow::Result<()> {
        let path = session.lock_path();
        if session.global.locked {
            return Err(lock::Error::Locked { path }.into());
        }
        let text = files::read_text(&path)?;
        let before = lock::parse(&path, &text)?;
        let mut package = self.measure(session)?;
        keep_other_channels(&mut package, &before);
        let rendered = lock::render_package(&package);
        if !self.dry_run {
            let changed = lock::upsert_package(&text, &package).context("failed to edit the lock")?;
            lock::parse(&path, &changed)?;
            files::write_whole(&path, changed.as_bytes())?;
        }
        session.ui.data(&rendered, &json!({"package": package.name, "written": !self.dry_run}));
        Ok(())
    }

    fn measure(&self, session: &Session) -> anyhow::Result<Package> {
        let host = match &self.host {
            None => None,
            Some(triple) => {
                Some(Host::from_triple(triple).with_context(|| format!("unknown host `{triple}`"))?)
            }
        };
        let part = |name: &String| {
            let found = Part::ALL.into_iter().find(|part| part.name() == name);
            found.with_context(|| {
                format!("unknown part `{name}`, expected one of {}", Part::ALL.map(Part::name).join(", "))
            })
        };
        let provides = self.provides.iter().map(part).collect::<anyhow::Result<Vec<_>>>()?;
        let context = session.fetching(&From::default());
        let folder = tempfile::tempdir()?;
        let mut channel = None;
        let mut archives = Vec::new();
        for spec in &self.archives {
            let (own, archive) = parse_spec(spec)?;
            anyhow::ensure!(
                channel.is_none_or(|other| other == own),
                "all archives of one source come from one channel"
            );
            channel = Some(own);
            session.ui.phase("measure", spec);
            archives.push(measure(own, archive, folder.path(), &context)?);
        }
        let first = &archives[0];
        let default_version = if first.version.is_empty() { "unknown" } else { &first.version };
        let version = self.package_version.clone().unwrap_or_else(|| default_version.to_owned());
        let mut package = Package {
            name: self.name.clone(),
            version,
            host,
            license: self.license.clone(),
            provides,
            only: self.only.clone(),
            sources: vec![Source { channel: channel.unwrap_or(Channel::Url), archives, tree: None }],
        };
        let tree = measure_tree(&package, folder.path(), session)?;
        package.sources[0].tree = Some(tree);
        Ok(package)
    }
}

/// The sources of other channels stay, if they are of the same version.
fn keep_other_channels(package: &mut Package, before: &lock::Lock) {
    let is_same = |old: &&Package| {
        old.name == package.name && old.host == package.host && old.version == package.version
    };
    if let Some(old) = before.packages.iter().find(is_same) {
        let channel = package.sources[0].channel;
        package.sources.extend(old.sources.iter().filter(|source| source.channel != channel).cloned());
    }
}

/// An archive without its measurements.
fn parse_spec(spec: &str) -> anyhow::Result<(Channel, Archive)> {
    let mut archive = Archive {
        url: String::new(),
        name: String::new(),
        version: String::new(),
        suite: String::new(),
        file: String::new(),
        size: None,
        sha256: crate::digest::Sha256::of(b""),
        measured: Vec::new(),
    };
    if let Some(rest) = spec.strip_prefix("pip:") {
        let (name, rest) =
            rest.split_once("==").with_context(|| format!("`{spec}`: expected pip:NAME==VERSION"))?;
        let (version, platform) = rest.split_once('@').unwrap_or((rest, ""));
        (archive.name, archive.version) = (name.to_owned(), version.to_owned());
        if !platform.is_empty() {
            archive.file = format!("any-{platform}.whl");
        }
        return Ok((Channel::Pip, archive));
    }
    if let Some(rest) = spec.strip_prefix("deb:") {
        let (package, suite) =
            rest.rsplit_once('@').with_context(|| format!("`{spec}`: expected deb:NAME[=VERSION]@SUITE"))?;
        let (name, version) = package.split_once('=').unwrap_or((package, ""));
        (archive.name, archive.version, archive.suite) =
            (name.to_owned(), version.to_owned(), suite.to_owned());
        return Ok((Channel::Deb, archive));
    }
    fetch::check_url(spec)?;
    archive.url = spec.to_owned();
    archive.file = spec.rsplit('/').next().unwrap_or_default().to_owned();
    Format::of_name(&archive.file)?;
    Ok((Channel::Url, archive))
}

/// Downloads an archive into `folder`, laid out as a mirror, and measures it.
fn measure(
    channel: Channel,
    mut archive: Archive,
    mirror: &Path,
    context: &fetch::Context,
) -> anyhow::Result<Archive> {
    let folder = tempfile::tempdir_in(mirror)?;
    let path = download_to(channel, &archive, folder.path(), &context.debian)?;
    let (sha256, size) = crate::digest::Sha256::of_file(&path).named("read", &path)?;
    archive.file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let (Channel::Deb, Some(version)) = (channel, archive.file.split('_').nth(1)) {
        archive.version = version.replace("%3a", ":");
    }
    (archive.sha256, archive.size) = (sha256, Some(size));
    archive.measured = vec![Measured { by: "xtask lock add".into(), on: crate::clock::today() }];
    let place = mirror.join(fetch::path_in_mirror(sha256, &archive.file));
    files::create_folder(place.parent().unwrap_or(mirror))?;
    files::rename(&path, &place)?;
    Ok(archive)
}

/// Unpacks what was downloaded, by the rules of every bootstrap, and checks that it has what it provides.
fn measure_tree(package: &Package, mirror: &Path, session: &Session) -> anyhow::Result<TreeFacts> {
    let work = tempfile::tempdir()?;
    let path = |name: &str| work.path().join(name);
    let (tree, scratch, partials) = (path("tree"), path("scratch"), path("partials"));
    let places = fetch::Places { tree: &tree, scratch: &scratch, partials: &partials };
    let mirrors = vec![mirror.display().to_string().parse()?];
    let context = session.fetching(&From { mirrors, offline: true, connections: None });
    let (_, manifest) = fetch::fetch_package(package, places, &context)?;
    store::check_layout(package, &manifest)?;
    let paths = manifest.entries.iter().map(|entry| entry.path.as_str());
    Ok(TreeFacts {
        files: manifest.entries.len() as u64,
        bytes: manifest.bytes(),
        longest: Some(store::longest_path(paths)),
        sha256: manifest.digest(),
    })
}
