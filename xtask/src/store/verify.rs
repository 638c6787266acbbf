//! Compares a tree on the disk with its manifest.

use super::{Kind, Manifest};
use crate::digest::Sha256;
use crate::files::{self, Error, Named};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// One way in which a tree is not what its manifest says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Difference {
    /// In the manifest, not on the disk.
    Missing(String),
    /// On the disk, not in the manifest.
    Extra(String),
    /// Another size, content or link target.
    Changed {
        /// The file.
        path: String,
        /// What the manifest says.
        expected: String,
        /// What the disk says.
        actual: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Missing(path) => write!(f, "missing  {path}"),
            Difference::Extra(path) => write!(f, "extra    {path}"),
            Difference::Changed { path, expected, actual } => {
                write!(f, "changed  {path}: expected {expected}, found {actual}")
            }
        }
    }
}

/// Every difference between the tree at `root` and `manifest`; files of `ignored` may be there or not.
pub(crate) fn compare_tree(
    root: &Path,
    manifest: &Manifest,
    ignored: &[&str],
) -> Result<Vec<Difference>, Error> {
    let on_disk = files::list(root)?;
    let mut listed: BTreeMap<&str, &Kind> =
        manifest.entries.iter().map(|entry| (entry.path.as_str(), &entry.kind)).collect();
    let mut differences = Vec::new();
    for path in &on_disk {
        match listed.remove(path.as_str()) {
            Some(kind) => differences.extend(compare_file(root, path, kind)?),
            None if ignored.contains(&path.as_str()) => {}
            None => differences.push(Difference::Extra(path.clone())),
        }
    }
    differences.extend(listed.into_keys().map(|path| Difference::Missing(path.to_owned())));
    Ok(differences)
}

fn compare_file(root: &Path, path: &str, kind: &Kind) -> Result<Option<Difference>, Error> {
    let full = root.join(path);
    let changed = |expected: String, actual: String| {
        Ok(Some(Difference::Changed { path: path.to_owned(), expected, actual }))
    };
    let is_link = std::fs::symlink_metadata(&full).named("read", &full)?.is_symlink();
    match kind {
        Kind::Link { target } if is_link => {
            let actual = std::fs::read_link(&full).named("read", &full)?;
            match actual.as_os_str() == target.as_str() {
                true => Ok(None),
                false => changed(format!("a link to {target}"), format!("a link to {}", actual.display())),
            }
        }
        // On Windows a link was written as a copy.
        Kind::Link { .. } if cfg!(windows) => Ok(None),
        Kind::Link { target } => changed(format!("a link to {target}"), "a file".into()),
        Kind::File { .. } if is_link => changed("a file".into(), "a link".into()),
        Kind::File { size, sha256, .. } => {
            let (actual, length) = Sha256::of_file(&full).named("read", &full)?;
            match actual == *sha256 && length == *size {
                true => Ok(None),
                false => changed(format!("{size} bytes {sha256}"), format!("{length} bytes {actual}")),
            }
        }
    }
}
