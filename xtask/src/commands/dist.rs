//! `cargo xtask dist`

use super::Session;
use super::checkout::Checkout;
use crate::build::{Component, Workspace, load_workspace};
use crate::dist::{
    Bundle, Crate, Error, Parts, Published, RocmTree, Signer, SigningKey, Twice, WheelParts, build_twice,
    collect_licences, crates_of, merge, package_manifests, plan_bundle, plan_wheel, publish, publish_merged,
    write_provenance, write_sums,
};
use crate::files;
use crate::lock::{Host, Selected};
use crate::store::{Installed, load_installed};
use crate::ui::{counted, human_bytes, human_time, interrupted};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// Pack the artifacts of each target into a checked release
///
/// Each zip is unpacked elsewhere, every hash is compared, every import is found again in it, and its programs are started from it, before the zip gets
/// its name.
#[derive(Debug, Args)]
pub(crate) struct Dist {
    /// Targets: gfx names, dist families, `native` or `all`, separated by commas
    #[arg(long, default_value = "gfx1100,gfx1201", value_name = "LIST")]
    targets: String,
    /// Host that runs the programs: this machine's, or from Linux also x86_64-pc-windows-gnu
    #[arg(long, value_name = "TRIPLE", default_value = Host::THIS.triple(), value_parser = super::build::host)]
    host: Host,
    #[command(flatten)]
    options: Options,
    /// Print what would be packed, and write nothing
    #[arg(long, conflicts_with_all = ["merge", "check"])]
    dry_run: bool,
    /// Join artifacts (and zips of other hosts) that were built on other machines, after checking that version, lock, sources and compiler agree;
    /// packs their targets, so that --targets is not looked at
    #[arg(long, value_name = "DIR", num_args = 1..)]
    merge: Vec<PathBuf>,
    /// Build and pack everything twice, in copies of the workspace that differ in folder, user, time zone, locale, umask and cores, and compare
    #[arg(long, conflicts_with_all = ["merge", "bundle", "tar", "url", "sign_command"])]
    check: bool,
    /// Folder for the copies of --check; what is built there already is built on [default: a fresh one in `target`]
    #[arg(long, requires = "check", value_name = "DIR")]
    check_in: Option<PathBuf>,
}

/// How a release is packed.
#[derive(Debug, Args, Default)]
pub(crate) struct Options {
    /// Folder for the zips [default: `dist` in the workspace]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// One release for all targets together
    #[arg(long)]
    bundle: bool,
    /// Write each release as tar.zst too
    #[arg(long)]
    tar: bool,
    /// Visual C++ redistributable (VC\Redist\MSVC\<version>) whose runtime DLLs may be shipped
    #[arg(long, env = "VCToolsRedistDir", value_name = "DIR")]
    redist: Option<PathBuf>,
    /// Where the zips will be downloaded from: writes scoop's and winget's manifests for Windows releases
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Secret key of minisign to sign SHA256SUMS with; or its text in STRATA_MINISIGN_KEY, with STRATA_MINISIGN_PASSWORD
    #[arg(long, env = "STRATA_MINISIGN_KEY_FILE", value_name = "FILE")]
    sign_key: Option<PathBuf>,
    /// Program that signs one of our .exe or .dll files in place (Authenticode), before it is hashed
    #[arg(long, value_name = "PROGRAM")]
    sign_command: Option<PathBuf>,
}

impl Options {
    fn key(&self) -> Result<Option<SigningKey>, Error> {
        SigningKey::find(self.sign_key.as_deref())
    }

    /// Finds out about a key that cannot be used before anything is built or packed.
    pub(super) fn check_key(&self) -> Result<(), Error> {
        self.key().map(drop)
    }
}

impl Dist {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let lock = session.lock()?;
        let selected = session.select(&lock)?;
        session.refuse_unpinned(selected)?;
        let installed = load_installed(&session.store, selected)?;
        let checkout = Checkout::read(&session.root)?;
        let how = How { host: self.host, options: &self.options, checkout, is_offline: false };
        if self.dry_run {
            let targets = session.targets(&self.targets, selected)?;
            return Run::begin(session, selected, &installed, how)?.preview(&targets);
        }
        self.options.check_key()?;
        let _alone = session.lock_builds()?;
        if self.check {
            return self.check_twice(session, selected, &how.checkout);
        }
        if self.merge.is_empty() {
            return pack(session, selected, &installed, &self.targets, how);
        }
        let workspace = load_workspace(&session.root)?;
        let merged = merge(&self.merge, &session.root.join("artifacts"), &workspace, self.host)?;
        session.ui.phase(
            "merged",
            &format!(
                "artifacts for {}, {}",
                counted(merged.targets.len(), "target"),
                counted(merged.zips.len(), "zip")
            ),
        );
        let mut run = Run::begin(session, selected, &installed, how)?.signing()?;
        files::create_folder(&run.out)?;
        if !merged.targets.is_empty() {
            run.pack(&merged.targets)?;
        }
        for zip in &merged.zips {
            let start = Instant::now();
            let release = publish_merged(zip, &run.out)?;
            run.say(&release, None, start);
            run.releases.push(release);
        }
        run.finish()
    }

    fn check_twice(&self, session: &Session, selected: Selected, checkout: &Checkout) -> anyhow::Result<()> {
        session.targets(&self.targets, selected)?;
        let work = match &self.check_in {
            Some(folder) => std::path::absolute(folder)?,
            None => {
                let folder = session.root.join("target").join("xtask").join("check");
                files::remove_tree(&folder)?;
                folder
            }
        };
        session.ui.phase("check", &format!("two builds side by side in `{}`", work.display()));
        let start = Instant::now();
        let same = build_twice(&Twice {
            root: &session.root,
            work: &work,
            store: session.store.root(),
            toolchain: &session.global.toolchain,
            targets: &self.targets,
            host: self.host,
            time: checkout.time,
        })?;
        let text = format!(
            "the same to the last byte: {} archives with {} files; varied: {} ({})",
            same.archives,
            same.files,
            same.varied.join(", "),
            human_time(start.elapsed())
        );
        let value = json!({"archives": same.archives, "files": same.files, "varied": same.varied, "folder": work.display().to_string()});
        session.ui.data(&text, &value);
        Ok(())
    }
}

/// What is packed beside the targets, and for whom.
pub(super) struct How<'a> {
    /// Who runs the programs.
    pub(super) host: Host,
    /// The command line's.
    pub(super) options: &'a Options,
    /// Where it comes from.
    pub(super) checkout: Checkout,
    /// Whether cargo may use only what is on this machine.
    pub(super) is_offline: bool,
}

/// Packs and checks the release of every target, or one for all, then writes what lies beside.
pub(super) fn pack(
    session: &Session,
    selected: Selected,
    installed: &Installed,
    targets: &str,
    how: How,
) -> anyhow::Result<()> {
    let targets = session.targets(targets, selected)?;
    let mut run = Run::begin(session, selected, installed, how)?.signing()?;
    run.pack(&targets)?;
    run.finish()
}

/// One run of dist: what all its releases have in common, and those that are done.
struct Run<'a> {
    session: &'a Session<'a>,
    host: Host,
    options: &'a Options,
    workspace: Workspace,
    out: PathBuf,
    licences: Vec<(String, Vec<u8>)>,
    package_licences: Vec<(String, String)>,
    rocm: Option<RocmTree>,
    /// The one that is named, else the one of this machine's Visual Studio.
    redist: Option<PathBuf>,
    crates: Vec<Crate>,
    /// Whether cargo may use only what is on this machine.
    is_offline: bool,
    signer: Option<Signer>,
    key: Option<SigningKey>,
    checkout: Checkout,
    releases: Vec<Published>,
    wheels: Vec<PathBuf>,
}

impl<'a> Run<'a> {
    fn begin(
        session: &'a Session,
        selected: Selected,
        installed: &Installed,
        how: How<'a>,
    ) -> anyhow::Result<Self> {
        let How { host, options, checkout, is_offline } = how;
        let workspace = load_workspace(&session.root)?;
        let out = match &options.out {
            Some(path) => std::path::absolute(path)?,
            None => session.root.join("dist"),
        };
        let components: Vec<&Component> = workspace.components.iter().collect();
        let crates = crates_of(&session.root, &components, host, is_offline)?;
        Ok(Self {
            licences: collect_licences(&session.root, installed)?,
            package_licences: selected.packages().map(|p| (p.name.clone(), p.license.clone())).collect(),
            redist: options.redist.clone().or_else(|| session.redistributable(selected)),
            rocm: RocmTree::find(installed, host)?,
            key: None,
            checkout,
            releases: Vec::new(),
            wheels: Vec::new(),
            session,
            host,
            options,
            workspace,
            out,
            crates,
            is_offline,
            signer: None,
        })
    }

    /// With what signs; a preview has nothing signed.
    fn signing(mut self) -> Result<Self, Error> {
        let work = self.session.root.join("target").join("xtask");
        let program = self.options.sign_command.as_deref();
        self.signer = program.map(|program| Signer::new(program, &work)).transpose()?;
        self.key = self.options.key()?;
        Ok(self)
    }

    /// The targets of each release.
    fn groups<'t>(&self, targets: &'t [gfx::Target]) -> Vec<&'t [gfx::Target]> {
        match self.options.bundle {
            true => vec![targets],
            false => targets.chunks(1).collect(),
        }
    }

    fn preview(&self, targets: &[gfx::Target]) -> anyhow::Result<()> {
        let (mut lines, mut values) = (Vec::new(), Vec::new());
        for group in self.groups(targets) {
            let bundle = self.plan(group)?;
            let bytes = human_bytes(bundle.bytes());
            lines.push(format!("{}: {} files, {bytes}", bundle.name, bundle.members.len()));
            for member in &bundle.members {
                let size = human_bytes(member.content.size());
                lines.push(format!("  {:<60} {size:>9}  {}", member.path, member.origin));
                values.push(json!({
                    "release": bundle.name, "path": member.path, "size": member.content.size(),
                    "sha256": member.digests.sha256, "origin": member.origin.to_string(),
                }));
            }
        }
        self.session.ui.data(&lines.join("\n"), &json!({"files": values}));
        Ok(())
    }

    fn pack(&mut self, targets: &[gfx::Target]) -> Result<(), Error> {
        files::create_folder(&self.out)?;
        for group in self.groups(targets) {
            if interrupted() {
                return Err(Error::Interrupted);
            }
            let start = Instant::now();
            let bundle = self.plan(group)?;
            for (folder, count) in &bundle.counts {
                self.session.ui.detail(&format!(
                    "{folder}: {} files taken, {} for other targets, {} of libraries that are not shipped",
                    count.taken, count.other_targets, count.other_libraries
                ));
            }
            let release = publish(&bundle, &self.out, self.checkout.time, self.options.tar)?;
            self.say(&release, Some(&bundle), start);
            self.releases.push(release);
        }
        self.pack_wheels(targets)
    }

    /// The wheel of each component that has a Python package, for all targets together.
    fn pack_wheels(&mut self, targets: &[gfx::Target]) -> Result<(), Error> {
        for component in &self.workspace.components {
            let wheel = plan_wheel(&WheelParts {
                component: &component.name,
                version: &self.workspace.version,
                host: self.host,
                targets,
                artifacts: &self.session.root.join("artifacts"),
                licences: &self.licences,
                crates: &crates_of(&self.session.root, &[component], self.host, self.is_offline)?,
            })?;
            if let Some(wheel) = wheel {
                self.wheels.push(wheel.write(&self.out)?);
                self.session.ui.phase("packed", &wheel.name);
            }
        }
        Ok(())
    }

    fn plan(&self, targets: &[gfx::Target]) -> Result<Bundle, Error> {
        plan_bundle(&Parts {
            version: &self.workspace.version,
            host: self.host,
            targets: targets.to_vec(),
            is_bundle: self.options.bundle,
            components: self.workspace.components.iter().collect(),
            artifacts: &self.session.root.join("artifacts"),
            rocm: self.rocm.as_ref(),
            redistributable: self.redist.as_deref(),
            licences: &self.licences,
            crates: &self.crates,
            package_licences: &self.package_licences,
            time: self.checkout.time,
            authenticode: self.signer.as_ref(),
        })
    }

    fn say(&self, release: &Published, bundle: Option<&Bundle>, start: Instant) {
        for path in &release.archives {
            let packed = std::fs::metadata(path).map_or(0, |meta| meta.len());
            let from = bundle.map(|b| format!(" from {}", human_bytes(b.bytes()))).unwrap_or_default();
            let name = path.file_name().unwrap_or_default().display();
            self.session.ui.phase(
                "packed",
                &format!(
                    "{name}: {} files, {}{from}, checked in {}",
                    release.checked.files,
                    human_bytes(packed),
                    human_time(start.elapsed())
                ),
            );
        }
        release
            .checked
            .skipped
            .iter()
            .for_each(|skipped| self.session.ui.info(&format!("not checked: {skipped}")));
    }

    fn finish(self) -> anyhow::Result<()> {
        let Self { session, options, out, releases, wheels, key, workspace, checkout, .. } = self;
        let mut written = vec![write_provenance(&out, &releases, &wheels, &checkout.source)?];
        if let Some(base) = &options.url {
            written.extend(package_manifests(&out, &releases, base)?);
        }
        let sums = write_sums(&out)?;
        written.push(sums.clone());
        if let Some(key) = key {
            written.push(key.sign_sums(&out, &format!("strata {}", workspace.version))?);
        }
        written.iter().for_each(|path| session.ui.phase("wrote", &path.display().to_string()));
        let archives = || releases.iter().flat_map(|release| &release.archives);
        let text = archives().map(|path| path.display().to_string()).collect::<Vec<_>>().join("\n");
        let value: Vec<_> = releases
            .iter()
            .map(|release| {
                let archives = shown(&release.archives);
                json!({"path": archives.first(), "archives": archives, "skipped_checks": release.checked.skipped})
            })
            .collect();
        session.ui.data(
            &text,
            &json!({"releases": value, "wheels": shown(&wheels), "sums": sums.display().to_string()}),
        );
        Ok(())
    }
}

/// Paths as text, whatever bytes are in them.
fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}
