//! `BUILD.json` of a release: the BUILD.json of each component in it.

use crate::build::BuildManifest;
use gfx::Target;
use serde::{Deserialize, Serialize};

/// Raised when a field changes its meaning.
const SCHEMA: u32 = 1;

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
    /// The gfx target.
    pub(crate) target: String,
    /// Sorted by name.
    pub(crate) components: Vec<BuildManifest>,
}

impl ReleaseManifest {
    /// A manifest of this version's format.
    pub(super) fn new(version: &str, host: &str, target: Target, components: Vec<BuildManifest>) -> Self {
        Self {
            schema: SCHEMA,
            name: "strata".into(),
            version: version.to_owned(),
            host: host.to_owned(),
            target: target.to_string(),
            components,
        }
    }

    /// As it stands in the release.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }
}
