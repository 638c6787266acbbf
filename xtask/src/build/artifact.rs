//! Artifact folders: `artifacts/<version>/<host>/<component>/<gfx>/`, each replaced as a whole.

use super::manifest::{BuildManifest, MANIFEST_FILE};
use super::plan::Step;
use crate::digest::Sha256;
use crate::files::{self, Error, Named};
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

impl Artifacts {
    /// The artifacts in `root`.
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The BUILD.json in an artifact folder; `None` when there is none that can be read.
    pub(crate) fn manifest(folder: &Path) -> Option<BuildManifest> {
        serde_json::from_str(&std::fs::read_to_string(folder.join(MANIFEST_FILE)).ok()?).ok()
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
        let is_intact = |output: &super::Output| {
            Sha256::of_file(&step.output.join(&output.path))
                .is_ok_and(|(digest, size)| digest == output.sha256 && size == output.size)
        };
        match manifest.outputs.iter().find(|output| !is_intact(output)) {
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
