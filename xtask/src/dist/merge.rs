//! Joins what was built on different machines: artifact folders are taken over, zips of other hosts as they are, after checking that version, lock,
//! sources and compiler agree.

use super::check::Unpacked;
use super::outputs::agree;
use super::{Error, ReleaseManifest, verify_folder};
use crate::build::{Artifacts, BuildManifest, MANIFEST_FILE, Workspace};
use crate::files::{self, Named};
use crate::lock::Host;
use gfx::Target;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was found in the folders.
#[derive(Debug, Clone, Default)]
pub(crate) struct Merged {
    /// Targets whose artifacts were taken over, ordered.
    pub(crate) targets: Vec<Target>,
    /// Releases that were packed elsewhere.
    pub(crate) zips: Vec<PathBuf>,
}

/// An artifact folder of another machine.
struct Found {
    folder: PathBuf,
    manifest: BuildManifest,
}

/// Copies the artifacts below `folders` into `artifacts` and finds the zips there. Nothing is touched before everything has been checked: where an
/// artifact is put is what its BUILD.json says, and that came from elsewhere.
pub(crate) fn merge(
    folders: &[PathBuf],
    artifacts: &Path,
    workspace: &Workspace,
    host: Host,
) -> Result<Merged, Error> {
    let mut found: BTreeMap<PathBuf, Found> = BTreeMap::new();
    let mut merged = Merged::default();
    let mut manifests = Vec::new();
    for folder in folders {
        let paths = files::list(folder)?;
        let before = manifests.len();
        for path in paths {
            let full = folder.join(&path);
            let name = path.rsplit('/').next().unwrap_or(&path);
            if name == MANIFEST_FILE {
                let own = full.parent().unwrap_or(folder).to_owned();
                // The BUILD.json of an unpacked release is another one.
                let Some(manifest) = Artifacts::manifest(&own) else { continue };
                verify_folder(&own)?;
                manifests.push(manifest.clone());
                add(&mut found, own, manifest, workspace, host)?;
            } else if name.starts_with("strata-") && name.ends_with(".zip") {
                manifests.extend(manifest_of(&full)?.components);
                merged.zips.push(full);
            }
        }
        if manifests.len() == before {
            return Err(Error::NothingToMerge { path: folder.clone() });
        }
    }
    agree(&manifests)?;
    for (place, Found { folder, manifest }) in found {
        copy(&folder, &artifacts.join(place))?;
        merged.targets.extend(manifest.target.parse::<Target>());
    }
    merged.targets.sort();
    merged.targets.dedup();
    merged.zips.sort();
    Ok(merged)
}

fn add(
    found: &mut BTreeMap<PathBuf, Found>,
    folder: PathBuf,
    manifest: BuildManifest,
    workspace: &Workspace,
    host: Host,
) -> Result<(), Error> {
    let place = place_of(&manifest, workspace, host).map_err(|(what, value)| Error::Foreign {
        path: folder.clone(),
        what,
        value: value.to_owned(),
    })?;
    if manifest.host != host.triple() {
        return Err(Error::OtherHost { path: folder, host: manifest.host });
    }
    match found.get(&place) {
        Some(first) if first.manifest.outputs != manifest.outputs => Err(Error::Mixed {
            first: first.folder.display().to_string(),
            second: folder.display().to_string(),
            what: "outputs, though both are the same component and target".into(),
        }),
        Some(_) => Ok(()),
        None => {
            found.insert(place, Found { folder, manifest });
            Ok(())
        }
    }
}

/// Where the artifact belongs below `artifacts`, made of what this workspace knows, or what it does not know.
fn place_of<'m>(
    manifest: &'m BuildManifest,
    workspace: &Workspace,
    host: Host,
) -> Result<PathBuf, (&'static str, &'m str)> {
    let BuildManifest { version, host: triple, component, target, .. } = manifest;
    if *version != workspace.version {
        return Err(("version", version));
    }
    Host::from_triple(triple).ok_or(("host", triple.as_str()))?;
    if !workspace.components.iter().any(|known| known.name == *component) {
        return Err(("component", component));
    }
    let target: Target = target.parse().map_err(|_| ("target", target.as_str()))?;
    Ok([version, host.triple(), component, target.name()].iter().collect())
}

/// The BUILD.json in a release's zip.
pub(super) fn manifest_of(zip: &Path) -> Result<ReleaseManifest, Error> {
    ReleaseManifest::load(&Unpacked::of(zip)?.folder)
}

/// Replaces `to` by a copy of `from`, as a whole.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let folder = to.parent().unwrap_or(to);
    files::create_folder(folder)?;
    if same_file(from, to) {
        return Ok(());
    }
    let staging = tempfile::Builder::new().prefix(".merge-").tempdir_in(folder).named("create", folder)?;
    let whole = staging.path().join("artifact");
    for path in files::list(from)? {
        let (source, copy) = (from.join(&path), whole.join(&path));
        files::create_folder(copy.parent().unwrap_or(&whole))?;
        std::fs::copy(&source, &copy).named("copy", &source)?;
    }
    files::sync(&whole)?;
    files::remove_tree(to)?;
    Ok(files::rename(&whole, to)?)
}

fn same_file(from: &Path, to: &Path) -> bool {
    matches!((from.canonicalize(), to.canonicalize()), (Ok(from), Ok(to)) if from == to)
}
