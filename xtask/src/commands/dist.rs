//! `cargo xtask dist`

use super::Session;
use crate::build::{Workspace, load_workspace};
use crate::digest::Sha256;
use crate::dist::{
    self, Bundle, Error, SUMS_FILE, Sums, Timestamp, check_release, collect_licences, plan_bundle, write_zip,
};
use crate::files::{self, Named};
use crate::lock::{Host, Selected};
use crate::store::{Installed, load_installed};
use crate::ui::{human_bytes, human_time, interrupted};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Pack the artifacts of each target into a checked release
///
/// Each zip is unpacked elsewhere, every hash is compared, and strata-device --selftest is run from it, before the zip gets its name.
#[derive(Debug, Args)]
pub(crate) struct Dist {
    /// Targets: gfx names, dist families, `native` or `all`, separated by commas
    #[arg(long, default_value = "gfx1100,gfx1201", value_name = "LIST")]
    targets: String,
    /// Folder for the zips [default: `dist` in the workspace]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Dist {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let lock = session.lock()?;
        let selected = session.select(&lock)?;
        let installed = load_installed(&session.store, selected)?;
        pack(session, selected, &installed, &self.targets, self.out.as_deref())
    }
}

/// Packs and checks the release of every target, then writes SHA256SUMS.
pub(super) fn pack(
    session: &Session,
    selected: Selected,
    installed: &Installed,
    targets: &str,
    out: Option<&Path>,
) -> anyhow::Result<()> {
    let targets = session.targets(targets, selected)?;
    let workspace = load_workspace(&session.root)?;
    let out = match out {
        Some(path) => std::path::absolute(path)?,
        None => session.root.join("dist"),
    };
    files::create_folder(&out)?;
    let licences = collect_licences(&session.root, installed)?;
    let time = commit_time(&session.root);
    let wheels = write_wheels(session, &workspace, &targets, &licences, &out)?;
    let mut releases = Vec::new();
    for target in targets {
        if interrupted() {
            return Err(Error::Interrupted.into());
        }
        let bundle = plan(session, &workspace, target, &licences)?;
        releases.push(release(session, &bundle, &out, time)?);
    }
    let sums = write_sums(&out)?;
    session.ui.phase("wrote", &format!("{}", sums.display()));
    let text = releases.iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>().join("\n");
    let value: Vec<_> =
        releases.iter().map(|(path, skipped)| json!({"path": path, "skipped_checks": skipped})).collect();
    session.ui.data(&text, &json!({"releases": value, "wheels": wheels, "sums": sums}));
    Ok(())
}

/// The wheel of each component that has a Python package, for all targets together.
fn write_wheels(
    session: &Session,
    workspace: &Workspace,
    targets: &[gfx::Target],
    licences: &[(String, Vec<u8>)],
    out: &Path,
) -> Result<Vec<PathBuf>, Error> {
    let mut wheels = Vec::new();
    for component in &workspace.components {
        let parts = dist::WheelParts {
            component: &component.name,
            version: &workspace.version,
            host: Host::THIS,
            targets,
            artifacts: &session.root.join("artifacts"),
            licences,
        };
        if let Some(wheel) = dist::plan_wheel(&parts)? {
            wheels.push(wheel.write(out)?);
            session.ui.phase("packed", &wheel.name);
        }
    }
    Ok(wheels)
}

fn plan(
    session: &Session,
    workspace: &Workspace,
    target: gfx::Target,
    licences: &[(String, Vec<u8>)],
) -> Result<Bundle, Error> {
    plan_bundle(&dist::BundleParts {
        version: &workspace.version,
        host: Host::THIS.triple(),
        target,
        components: workspace.components.iter().map(|component| component.name.as_str()).collect(),
        artifacts: &session.root.join("artifacts"),
        licences,
        readme: dist::readme(&workspace.version, target, Host::THIS),
    })
}

/// The zip gets its name when it has passed; until then it has another one.
fn release(
    session: &Session,
    bundle: &Bundle,
    out: &Path,
    time: Timestamp,
) -> Result<(PathBuf, Vec<String>), Error> {
    let start = Instant::now();
    let unchecked = tempfile::Builder::new().prefix(".unchecked-").tempdir_in(out).named("create", out)?;
    let zip = unchecked.path().join(format!("{}.zip", bundle.name));
    write_zip(bundle, &zip, time)?;
    let checked = check_release(&zip, Host::THIS)?;
    let path = out.join(format!("{}.zip", bundle.name));
    files::rename(&zip, &path)?;
    let packed = std::fs::metadata(&path).map_or(0, |meta| meta.len());
    session.ui.phase(
        "packed",
        &format!(
            "{}.zip: {} files, {} from {}, checked in {}",
            bundle.name,
            checked.files,
            human_bytes(packed),
            human_bytes(bundle.bytes()),
            human_time(start.elapsed())
        ),
    );
    checked.skipped.iter().for_each(|skipped| session.ui.info(&format!("not checked: {skipped}")));
    Ok((path, checked.skipped))
}

/// One line for every release in the folder, also those of earlier runs.
fn write_sums(out: &Path) -> Result<PathBuf, files::Error> {
    let mut sums = Sums::default();
    let is_ours = |name: &String| (name.ends_with(".zip") || name.ends_with(".whl")) && !name.contains('/');
    for name in files::list(out)?.into_iter().filter(is_ours) {
        let path = out.join(&name);
        sums.0.insert(name, Sha256::of_file(&path).named("read", &path)?.0);
    }
    let path = out.join(SUMS_FILE);
    files::write_whole(&path, sums.to_string().as_bytes())?;
    Ok(path)
}

/// The time of the commit, of SOURCE_DATE_EPOCH (reproducible-builds.org), or none at all: never of the clock.
fn commit_time(root: &Path) -> Timestamp {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    let from_git = || {
        let shell = xshell::Shell::new().ok()?;
        shell.change_dir(root);
        xshell::cmd!(shell, "git log -1 --format=%ct")
            .quiet()
            .ignore_stderr()
            .read()
            .ok()?
            .trim()
            .parse()
            .ok()
    };
    Timestamp(given.or_else(from_git).unwrap_or(0))
}
