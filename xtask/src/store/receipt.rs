//! The receipt of an entry: what it is, where it came from and where its parts lie.

use super::Error;
use crate::digest::Sha256;
use crate::files;
use crate::lock::{Channel, Part};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Raised when the rules of unpacking or of the layout change, so that older entries are made anew.
const FORMAT: u32 = 1;

/// `receipt.json`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    format: u32,
    /// The whole key; the folder has its first 16 digits.
    pub(crate) key: Sha256,
    /// The lock's name.
    pub(crate) package: String,
    /// The lock's version.
    pub(crate) version: String,
    /// Which channel brought it.
    pub(crate) channel: Channel,
    /// The archives, as a person names them, with their digests.
    pub(crate) archives: Vec<(String, Sha256)>,
    /// Number of files and links.
    pub(crate) files: usize,
    /// Bytes of all files.
    pub(crate) bytes: u64,
    /// The digest of the manifest.
    pub(crate) tree: Sha256,
    /// Where each part lies, relative to `tree/`.
    pub(crate) parts: BTreeMap<Part, String>,
}

/// What a receipt says beside its format.
pub(crate) struct Contents<'a> {
    pub(crate) key: Sha256,
    pub(crate) package: &'a crate::lock::Package,
    pub(crate) source: &'a crate::lock::Source,
    pub(crate) manifest: &'a super::Manifest,
    pub(crate) parts: BTreeMap<Part, String>,
}

impl Receipt {
    /// A receipt of this version's format.
    pub(super) fn new(contents: Contents) -> Self {
        let Contents { key, package, source, manifest, parts } = contents;
        Self {
            format: FORMAT,
            key,
            package: package.name.clone(),
            version: package.version.clone(),
            channel: source.channel,
            archives: source.archives.iter().map(|archive| (archive.label(), archive.sha256)).collect(),
            files: manifest.entries.len(),
            bytes: manifest.bytes(),
            tree: manifest.digest(),
            parts,
        }
    }

    /// The receipt in `entry`: `None` when there is none, or one of another format.
    pub(super) fn load(entry: &Path, key: Sha256) -> Result<Option<Self>, Error> {
        let path = entry.join("receipt.json");
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => files::Named::named(text, "read", &path)?,
        };
        let damaged = |reason: String| Error::Damaged { path: path.clone(), reason };
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if value["format"] != FORMAT {
            return Ok(None);
        }
        let receipt: Self = serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
        if receipt.key != key {
            return Err(damaged(format!("it is about {}, not {key}", receipt.key)));
        }
        Ok(Some(receipt))
    }
}
