//! What the build left: the outputs of every component for every target of a release, compared with their BUILD.json.

use super::member::{Draft, Origin, check_names};
use super::{Error, Parts};
use crate::build::{Artifacts, BuildManifest, MANIFEST_FILE};
use crate::files::Named;
use gfx::Target;
use std::collections::BTreeMap;
use std::path::PathBuf;

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
    for component in &parts.components {
        for target in &parts.targets {
            let (folder, manifest) = artifact(parts, &component.name, *target)?;
            for output in &manifest.outputs {
                check_names(&output.path)?;
                let origin = Origin::Component(component.name.clone());
                let from = folder.join(&output.path);
                std::fs::metadata(&from).named("read", &from)?;
                let mut draft =
                    Draft::file(output.path.clone(), &from, output.size, Some(output.sha256), origin.clone());
                draft.executable = output.executable;
                match drafts.get(&output.path) {
                    Some(first) if first.origin != origin => {
                        return Err(Error::Collision {
                            path: output.path.clone(),
                            first: first.origin.to_string(),
                            second: origin.to_string(),
                        });
                    }
                    Some(first) if first.expected != draft.expected => {
                        return Err(Error::Mixed {
                            first: format!(
                                "{component} for {}",
                                parts.targets[0],
                                component = component.name
                            ),
                            second: format!("{component} for {target}", component = component.name),
                            what: format!("`{}`", output.path),
                        });
                    }
                    Some(_) => {}
                    None => drop(drafts.insert(output.path.clone(), draft)),
                }
            }
            manifests.push(manifest);
        }
    }
    agree(&manifests)?;
    Ok(Outputs { drafts: drafts.into_values().collect(), manifests })
}

fn artifact(parts: &Parts, component: &str, target: Target) -> Result<(PathBuf, BuildManifest), Error> {
    let folder =
        parts.artifacts.join(parts.version).join(parts.host.triple()).join(component).join(target.name());
    match Artifacts::manifest(&folder) {
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
