//! What a tree consists of: the same list for the same content, on every host.

use crate::digest::{Hasher, Sha256};
use serde::{Deserialize, Serialize};

/// A tree, sorted by path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Files and links; folders follow from them.
    pub(crate) entries: Vec<Entry>,
}

/// One file or link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Relative to the tree, with `/`.
    pub(crate) path: String,
    /// What it is.
    #[serde(flatten)]
    pub(crate) kind: Kind,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A regular file.
    File {
        /// In bytes.
        size: u64,
        /// Of its content.
        sha256: Sha256,
        /// Whether it is a program.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        executable: bool,
    },
    /// A symbolic link.
    Link {
        /// Relative to its folder.
        target: String,
    },
}

impl Manifest {
    /// From entries in any order.
    pub(crate) fn new(mut entries: Vec<Entry>) -> Self {
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Self { entries }
    }

    /// The digest of the whole tree.
    pub(crate) fn digest(&self) -> Sha256 {
        let mut hasher = Hasher::new();
        for Entry { path, kind } in &self.entries {
            hasher.field(path);
            match kind {
                Kind::File { size, sha256, executable } => {
                    let mark = if *executable { 'x' } else { 'f' };
                    hasher.field(&format!("{mark} {size} {sha256}"));
                }
                Kind::Link { target } => hasher.field(&format!("l {target}")),
            }
        }
        hasher.finish().0
    }

    /// The bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        let size = |entry: &Entry| match entry.kind {
            Kind::File { size, .. } => size,
            Kind::Link { .. } => 0,
        };
        self.entries.iter().map(size).sum()
    }
}
