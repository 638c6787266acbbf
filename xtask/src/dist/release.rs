//! `BUILD.json` of a release: the BUILD.json of each component in it.

use super::{Error, Parts};
use crate::build::{BuildManifest, MANIFEST_FILE};
use crate::files;
use crate::lock::Host;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Raised when a field changes its meaning. 2: `targets` in place of `target`.
const SCHEMA: u32 = 2;

/// What a release consists of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReleaseManifest {
    /// See [`SCHEMA`].
    pub(crate) schema: u32,
    /// Always `strata`.
    pub(crate) name: String,
    /// The workspace's version.
    pub(crate) version: String,
    /// The triple of the machine that runs it.
    pub(crate) host: String,
    /// The gfx targets.
    pub(crate) targets: Vec<String>,
    /// Libraries that the programs load by name and that lie in the release.
    pub(crate) loaded: Vec<String>,
    /// Libraries that the programs load by name and that the user's driver has to bring.
    pub(crate) of_driver: Vec<String>,
    /// Folders of the release that a program needs on its search path when it imports a library of ROCm in its headers: upstream's launcher puts them there
    /// (facts/strata.md 2.7). What is loaded by name, by path, needs none.
    pub(crate) lib_dirs: Vec<String>,
    /// Sorted by name, then by target.
    pub(crate) components: Vec<BuildManifest>,
}

impl ReleaseManifest {
    /// A manifest of this version's format.
    pub(super) fn new(
        parts: &Parts,
        loaded: Vec<String>,
        of_driver: Vec<String>,
        lib_dirs: Vec<String>,
        components: Vec<BuildManifest>,
    ) -> Self {
        Self {
            schema: SCHEMA,
            name: "strata".into(),
            version: parts.version.to_owned(),
            host: parts.host.to_string(),
            targets: parts.targets.iter().map(ToString::to_string).collect(),
            loaded,
            of_driver,
            lib_dirs,
            components,
        }
    }

    /// The one in an unpacked release.
    pub(super) fn load(folder: &Path) -> Result<Self, Error> {
        Ok(files::read_json(&folder.join(MANIFEST_FILE))?)
    }

    /// What runs it.
    pub(super) fn host(&self) -> Host {
        Host::from_triple(&self.host).unwrap_or(Host::THIS)
    }

    /// As it stands in the release.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }
}
