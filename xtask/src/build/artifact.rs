//! Artifact folders: `artifacts/<version>/<host>/<component>/<gfx>/`, each replaced as a whole.

use super::component::Kind as ComponentKind;
use super::manifest::{BuildManifest, CodeObjectRecord, MANIFEST_FILE, Output};
use super::plan::Step;
use crate::files::{self, Error, Named};
use crate::lock::Host;
use crate::store::Kind;
use std::path::{Path, PathBuf};

/// The folder of all artifacts.
#[derive(Debug, Clone)]
pub(crate) struct Artifacts {
    root: PathBuf,
}

/// Whether an artifact is still what its inputs make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// It is; nothing runs.
    Current,
    /// It is not, for this reason.
    Rebuild(String),
}

/// Code objects that another host's artifact has.
#[derive(Debug)]
pub(crate) struct Twin {
    folder: PathBuf,
    code_objects: Vec<CodeObjectRecord>,
}

impl Twin {
    /// Copies them into the staging folder and gives their records.
    pub(super) fn copy(self, staging: &Path) -> Result<Vec<CodeObjectRecord>, Error> {
        for object in &self.code_objects {
            let (from, to) = (self.folder.join(&object.file), staging.join(&object.file));
            files::create_folder(to.parent().unwrap_or(staging))?;
            std::fs::copy(&from, &to).named("copy", &from)?;
        }
        Ok(self.code_objects)
    }
}

impl Artifacts {
    /// The artifacts in `root`.
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The BUILD.json in an artifact folder; `None` when there is none that can be read.
    pub(crate) fn manifest(folder: &Path) -> Option<BuildManifest> {
        serde_json::from_str(&std::fs::read_to_string(folder.join(MANIFEST_FILE)).ok()?).ok()
    }

    /// The artifact of another host with the same code objects as this step would make: all that goes into them is the same, and they are still what was
    /// built. A code object knows no host; what a project installs does.
    pub(crate) fn twin(&self, step: &Step) -> Option<Twin> {
        if step.component.kind != ComponentKind::Kernels {
            return None;
        }
        let version = step.output.ancestors().nth(3)?;
        let place = step.output.strip_prefix(version.join(step.host.triple())).ok()?;
        let others = Host::ALL.into_iter().filter(|host| *host != step.host);
        others.map(|host| version.join(host.triple()).join(place)).find_map(|folder| {
            let manifest = Self::manifest(&folder)?;
            let is_code_object =
                |output: &&Output| manifest.code_objects.iter().any(|object| object.file == output.path);
            let is_same = !manifest.code_objects.is_empty()
                && step.inputs.same_for_code_objects(&manifest.inputs)
                && manifest.outputs.iter().filter(is_code_object).all(|output| output.is_intact(&folder));
            is_same.then_some(Twin { folder, code_objects: manifest.code_objects })
        })
    }

    /// Compares what lies in the step's folder with what the step would make.
    pub(crate) fn reuse(&self, step: &Step) -> Reuse {
        let rebuild = |reason: &str| Reuse::Rebuild(reason.to_owned());
        let Some(manifest) = Self::manifest(&step.output) else {
            return rebuild(if step.output.exists() {
                "its BUILD.json cannot be read"
            } else {
                "not built yet"
            });
        };
        let changed = step.inputs.changed_since(&manifest.inputs);
        if !changed.is_empty() {
            return Reuse::Rebuild(format!("changed: {}", changed.join(", ")));
        }
        match manifest.outputs.iter().find(|output| !output.is_intact(&step.output)) {
            Some(output) => Reuse::Rebuild(format!("`{}` is not what was built", output.path)),
            None => Reuse::Current,
        }
    }

    /// Puts the step's staging folder in the place of its artifact folder.
    pub(crate) fn publish(&self, step: &Step, manifest: &BuildManifest) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(manifest).map_err(std::io::Error::other);
        let path = step.staging.join(MANIFEST_FILE);
        files::write_whole(&path, format!("{}\n", text.named("write", &path)?).as_bytes())?;
        for entry in manifest.tree().entries {
            if let Kind::File { executable, .. } = entry.kind {
                set_mode(&step.staging.join(entry.path), executable)?;
            }
        }
        if let Some(parent) = step.output.parent() {
            files::create_folder(parent)?;
        }
        files::sync(&step.staging)?;
        let old = step.staging.with_extension("old");
        files::remove_tree(&old)?;
        if step.output.exists() {
            files::rename(&step.output, &old)?;
        }
        if let Err(error) = files::rename(&step.staging, &step.output) {
            if old.exists() {
                files::rename(&old, &step.output)?;
            }
            return Err(error);
        }
        files::remove_tree(&old)
    }

    /// Brings back an artifact that a killed process had just set aside.
    pub(crate) fn recover(&self, step: &Step) -> Result<(), Error> {
        let old = step.staging.with_extension("old");
        if old.exists() && !step.output.exists() {
            files::rename(&old, &step.output)?;
        }
        files::remove_tree(&old)
    }

    /// Writes `current`, the pointer to the version that was built last.
    pub(crate) fn point_to(&self, version: &str) -> Result<(), Error> {
        let path = self.root.join("current");
        match std::fs::read_to_string(&path).is_ok_and(|text| text.trim() == version) {
            true => Ok(()),
            false => files::write_whole(&path, format!("{version}\n").as_bytes()),
        }
    }
}

fn set_mode(path: &Path, executable: bool) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = if executable { 0o755 } else { 0o644 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).named("change", path)
    }
    #[cfg(not(unix))]
    {
        let _ = (path, executable);
        Ok(())
    }
}
