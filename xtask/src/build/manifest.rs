//! `BUILD.json`: what was built from what, next to the outputs. It holds no path and no time of the machine.

use super::key::Inputs;
use crate::digest::Sha256;
use crate::store::{Entry, Kind, Manifest};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The file's name in an artifact folder.
pub(crate) const MANIFEST_FILE: &str = "BUILD.json";
/// Raised when a field changes its meaning.
pub(crate) const SCHEMA: u32 = 1;

/// One component for one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct BuildManifest {
    /// See [`SCHEMA`].
    pub(crate) schema: u32,
    /// The component's name.
    pub(crate) component: String,
    /// Its version.
    pub(crate) version: String,
    /// The gfx target.
    pub(crate) target: String,
    /// The triple of the machine that runs the programs.
    pub(crate) host: String,
    /// What compiled it.
    pub(crate) toolchain: ToolchainRecord,
    /// The digest of toolchains.lock.
    pub(crate) lock: Sha256,
    /// The compiler's version as it prints it.
    pub(crate) compiler: String,
    /// rustc's version as it prints it, when a Rust program is part of the component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rustc: Option<String>,
    /// CMake's settings, with places in angle brackets instead of paths.
    pub(crate) settings: BTreeMap<String, String>,
    /// The digest of each kind of input.
    pub(crate) inputs: Inputs,
    /// The digest over the inputs.
    pub(crate) key: Sha256,
    /// Every file beside this one, sorted by path.
    pub(crate) outputs: Vec<Output>,
    /// Every code object, sorted by file.
    pub(crate) code_objects: Vec<CodeObjectRecord>,
}

/// The toolchain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToolchainRecord {
    /// The lock's name.
    pub(crate) name: String,
    /// The ROCm release.
    pub(crate) rocm: String,
    /// Over all packages.
    pub(crate) digest: Sha256,
    /// Name, version and store key of each package.
    pub(crate) packages: Vec<PackageRecord>,
    /// Written only when it is `false`: the machine's own SDK compiled it, and nobody can fetch that by its hash.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub(crate) pinned: bool,
}

fn yes() -> bool {
    true
}

/// One package of a toolchain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PackageRecord {
    /// The lock's name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// Its key in the store.
    pub(crate) key: Sha256,
}

/// One output file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Output {
    /// Relative to the artifact folder, with `/`.
    pub(crate) path: String,
    /// In bytes.
    pub(crate) size: u64,
    /// Of its content.
    pub(crate) sha256: Sha256,
    /// Whether it is a program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) executable: bool,
}

/// One code object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CodeObjectRecord {
    /// The output's path.
    pub(crate) file: String,
    /// The compiler's arguments, with places in angle brackets instead of paths.
    pub(crate) flags: Vec<String>,
    /// What the metadata note says of each kernel.
    pub(crate) kernels: Vec<code_object::Kernel>,
}

impl Output {
    /// Whether the file in `folder` is still what was built.
    pub(super) fn is_intact(&self, folder: &Path) -> bool {
        let found = Sha256::of_file(&folder.join(&self.path));
        found.is_ok_and(|(digest, size)| digest == self.sha256 && size == self.size)
    }
}

impl BuildManifest {
    /// The outputs as a tree.
    pub(crate) fn tree(&self) -> Manifest {
        let entry = |output: &Output| Entry {
            path: output.path.clone(),
            kind: Kind::File { size: output.size, sha256: output.sha256, executable: output.executable },
        };
        Manifest::new(self.outputs.iter().map(entry).collect())
    }
}
