//! What the build left: the outputs of every component for every target of a release, compared with their BUILD.json.

use super::member::{Draft, Origin, check_names};
use super::{Error, Parts};
use crate::build::{Artifacts, BuildManifest, MANIFEST_FILE};
use crate::files::Named;
use gfx::Target;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Outputs and the manifests that name them.
pub(super) struct Outputs {
    pub(super) drafts: Vec<Draft>,
    /// Sorted by component, then in the order of the targets.
    pub(super) manifests: Vec<BuildManifest>,
}

/// Collects them. A file that several targets have, such as a program, has to be the same in all.
pub(super) fn collect(parts: &Parts) -> Result<Outputs, Error> {
    let mut drafts: BTreeMap<String, Draft> = BTreeMap::new();
    let mut manifests = Vec::new();
    let root = parts.artifacts.join(parts.version).join(parts.host.triple());
    for component in &parts.components {
        for target in &parts.targets {
            let (folder, manifest) = artifact(&root, &component.name, *target)?;
            for output in &manifest.outputs {
                check_names(&output.path)?;
                let from = folder.join(&output.path);
                std::fs::metadata(&from).named("read", &from)?;
                let origin = Origin::Component(component.name.clone());
                let mut draft =
                    Draft::file(output.path.clone(), &from, output.size, Some(output.sha256), origin);
                draft.executable = output.executable;
                add(&mut drafts, draft, parts.targets[0], *target)?;
            }
            manifests.push(manifest);
        }
    }
    agree(&manifests)?;
    Ok(Outputs { drafts: drafts.into_values().collect(), manifests })
}

/// Adds an output for `target`; `first` is the target whose outputs came first.
fn add(
    drafts: &mut BTreeMap<String, Draft>,
    draft: Draft,
    first: Target,
    target: Target,
) -> Result<(), Error> {
    match drafts.get(&draft.path) {
        Some(other) if other.origin != draft.origin => Err(Error::Collision {
            path: draft.path,
            first: other.origin.to_string(),
            second: draft.origin.to_string(),
        }),
        Some(other) if other.expected != draft.expected => Err(Error::Mixed {
            first: format!("{} for {first}", other.origin),
            second: format!("{} for {target}", draft.origin),
            what: format!("`{}`", draft.path),
        }),
        Some(_) => Ok(()),
        None => {
            drafts.insert(draft.path.clone(), draft);
            Ok(())
        }
    }
}

/// The artifact folder of a component for a target below `root`, the folder of a version and host, and its BUILD.json.
pub(super) fn artifact(
    root: &Path,
    component: &str,
    target: Target,
) -> Result<(PathBuf, BuildManifest), Error> {
    let folder = root.join(component).join(target.name());
    match Artifacts::manifest(&folder) {
        Some(manifest) if !manifest.toolchain.pinned => Err(Error::NotPinned {
            component: component.to_owned(),
            target,
            toolchain: manifest.toolchain.name,
        }),
        Some(manifest) => Ok((folder, manifest)),
        None => {
            let path = folder.join(MANIFEST_FILE);
            Err(Error::NotBuilt { component: component.to_owned(), target, path })
        }
    }
}

/// One release comes from one version, one lock, one toolchain, and one state of each component's sources.
pub(super) fn agree(manifests: &[BuildManifest]) -> Result<(), Error> {
    let label = |manifest: &BuildManifest| {
        format!("{} for {} ({})", manifest.component, manifest.target, manifest.host)
    };
    for (index, second) in manifests.iter().enumerate() {
        for first in &manifests[..index] {
            let same_host = first.host == second.host;
            let same_component = first.component == second.component;
            let sources = |manifest: &BuildManifest| {
                let is_source = |name: &String| name.ends_with("sources");
                manifest.inputs.0.clone().into_iter().filter(|(name, _)| is_source(name)).collect::<Vec<_>>()
            };
            let checks = [
                ("version", first.version == second.version),
                ("lock", first.lock == second.lock),
                ("toolchain", !same_host || first.toolchain.digest == second.toolchain.digest),
                ("compiler", !same_host || first.compiler == second.compiler),
                ("Rust toolchain", !same_host || !same_component || first.rustc == second.rustc),
                ("sources", !same_component || sources(first) == sources(second)),
            ];
            if let Some((what, _)) = checks.into_iter().find(|(_, same)| !same) {
                return Err(Error::Mixed {
                    first: label(first),
                    second: label(second),
                    what: what.to_owned(),
                });
            }
        }
    }
    Ok(())
}
