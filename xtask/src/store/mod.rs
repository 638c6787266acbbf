//! The content-addressed store: verified, read-only trees, one per package source.
//!
//! `store/<16 hex of the key>/` holds `tree/`, `manifest.json` (every path, size, sha256 and link) and `receipt.json`; it appears under its
//! name by one rename, complete. `staging/`, `locks/` and `trash/` lie beside, on the same volume.

mod error;
mod gc;
mod install;
mod layout;
mod manifest;
mod path_length;
mod receipt;
mod staging;
mod system;
mod toolchain;
mod verify;

pub(crate) use error::Error;
pub(crate) use gc::{Garbage, Keep, Used};
pub(crate) use install::check_layout;
pub(crate) use layout::{Layout, LayoutError, layout_of};
pub(crate) use manifest::{Entry, Kind, Manifest};
pub(crate) use path_length::{TooLong, WINDOWS as LONGEST_ON_WINDOWS, longest as longest_path};
pub(crate) use receipt::Receipt;
pub(crate) use toolchain::{Installed, bootstrap, load_installed};
pub(crate) use verify::{Depth, compare_entry, compare_tree, sealed_at};

use crate::digest::Sha256;
use crate::lock::{Part, compare_versions};
use std::path::{Path, PathBuf};

/// A store; nothing is made before the first install.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    root: PathBuf,
}

impl Store {
    /// The store at `root`, an absolute path.
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// Where it lies.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the entry with this key, there or not.
    pub(crate) fn entry(&self, key: Sha256) -> PathBuf {
        self.root.join(key.short())
    }

    /// Characters of a path of `longest` characters in an entry's tree.
    pub(crate) fn length_of(&self, longest: u64) -> usize {
        path_length::length_of(&self.root.join("0123456789abcdef").join("tree"), longest)
    }

    /// The receipt of the entry with this key, when it is installed by this version's rules.
    pub(crate) fn receipt(&self, key: Sha256) -> Result<Option<Receipt>, Error> {
        Receipt::load(&self.entry(key), key)
    }

    /// The packages that alone give all of `parts`: name and version, and where their part `root` lies. The newest first; what is damaged is left out.
    pub(crate) fn with_parts(&self, parts: &[Part], root: Part) -> Vec<(String, PathBuf)> {
        let whole = |(name, receipt): (String, Result<Receipt, _>)| {
            Some((receipt.ok()?, self.root.join(name).join("tree")))
        };
        let mut found: Vec<(Receipt, PathBuf)> = self.receipts().into_iter().filter_map(whole).collect();
        found.retain(|(receipt, _)| parts.iter().all(|part| receipt.parts.contains_key(part)));
        found.sort_by(|(a, _), (b, _)| compare_versions(&b.version, &a.version));
        let place = |(receipt, tree): (Receipt, PathBuf)| {
            let folder = tree.join(receipt.parts.get(&root)?);
            Some((format!("{} {}", receipt.package, receipt.version), folder))
        };
        found.into_iter().filter_map(place).collect()
    }

    /// Removes an entry, or something beside the entries.
    pub(crate) fn discard(&self, path: &Path) -> Result<(), Error> {
        Ok(staging::discard(&self.root, path)?)
    }

    /// Every entry's folder name and receipt, sorted by name.
    pub(crate) fn receipts(&self) -> Vec<(String, Result<Receipt, crate::files::Error>)> {
        let load = |name: String| {
            let receipt = crate::files::read_json(&self.root.join(&name).join("receipt.json"));
            (name, receipt)
        };
        self.entries().into_iter().map(load).collect()
    }

    /// Every entry's folder name, sorted.
    pub(crate) fn entries(&self) -> Vec<String> {
        let listed = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let names = listed.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut entries: Vec<String> =
            names.filter(|name| name.len() == 16 && name.bytes().all(|b| b.is_ascii_hexdigit())).collect();
        entries.sort();
        entries
    }
}
