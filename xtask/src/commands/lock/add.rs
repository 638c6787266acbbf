//! `cargo xtask lock add`

use super::{Session, measure};
use crate::address;
use crate::commands::Usage;
use crate::commands::bootstrap::From;
use crate::digest::Sha256;
use crate::fetch::{self, Format};
use crate::files;
use crate::lock::{self, Archive, Channel, Host, Package, Part, Source};
use anyhow::Context as _;
use clap::Args;
use serde_json::json;

/// What `lock add` writes.
#[derive(Debug, Args)]
pub(super) struct Add {
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
    /// What it gives to a toolchain: compiler, offload-bundler, hip, device-libs, cmake, ninja, composable-kernel
    #[arg(long, value_delimiter = ',', value_name = "PARTS")]
    provides: Vec<String>,
    /// Unpack only members below this path; may be given several times
    #[arg(long, value_name = "PATH")]
    only: Vec<String>,
    /// Print the entry and leave the lock as it is
    #[arg(long)]
    dry_run: bool,
}

impl Add {
    /// Runs it.
    pub(super) fn run(&self, session: &Session) -> anyhow::Result<()> {
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
            Some(triple) => Some(Host::from_triple(triple).ok_or_else(|| Usage::unknown_host(triple))?),
        };
        let part = |name: &String| {
            let found = Part::ALL.into_iter().find(|part| part.name() == name);
            found.ok_or_else(|| {
                let known = Part::ALL.map(Part::name).join(", ");
                Usage::new(format!("unknown part `{name}`"), format!("--provides takes {known}"))
            })
        };
        let provides = self.provides.iter().map(part).collect::<Result<Vec<_>, _>>()?;
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
            let shown = if own == Channel::Url { archive.label() } else { spec.clone() };
            session.ui.phase("measure", &shown);
            archives.push(measure::archive(own, archive, folder.path(), "xtask lock add", &context)?);
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
        let tree = measure::tree(&package, folder.path(), session)?;
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

fn odd_spec(spec: &str, expected: &str) -> Usage {
    Usage::new(format!("`{spec}` names no archive"), format!("expected {expected}"))
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
        sha256: Sha256::of(b""),
        measured: Vec::new(),
    };
    if let Some(rest) = spec.strip_prefix("pip:") {
        let (name, rest) = rest.split_once("==").ok_or_else(|| odd_spec(spec, "pip:NAME==VERSION"))?;
        let (version, platform) = rest.split_once('@').unwrap_or((rest, ""));
        (archive.name, archive.version) = (name.to_owned(), version.to_owned());
        if !platform.is_empty() {
            archive.file = format!("any-{platform}.whl");
        }
        return Ok((Channel::Pip, archive));
    }
    if let Some(rest) = spec.strip_prefix("deb:") {
        let (package, suite) =
            rest.rsplit_once('@').ok_or_else(|| odd_spec(spec, "deb:NAME[=VERSION]@SUITE"))?;
        let (name, version) = package.split_once('=').unwrap_or((package, ""));
        (archive.name, archive.version, archive.suite) =
            (name.to_owned(), version.to_owned(), suite.to_owned());
        return Ok((Channel::Deb, archive));
    }
    fetch::check_url(spec)?;
    archive.url = spec.to_owned();
    archive.file = address::file(spec);
    Format::of_name(&archive.file)?;
    Ok((Channel::Url, archive))
}
