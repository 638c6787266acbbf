//! Compares a tree on the disk with its manifest.

use super::{Kind, Manifest, Receipt};
use crate::digest::Sha256;
use crate::files::{self, Error, Named};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

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

impl Difference {
    fn path(&self) -> &str {
        match self {
            Difference::Missing(path) | Difference::Extra(path) | Difference::Changed { path, .. } => path,
        }
    }
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

/// How closely files are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Every byte.
    Deep,
    /// The size, and that the file was not written after this moment: what it was when its receipt was written.
    Quick(SystemTime),
}

/// Compares the entry in `folder` with its manifest, and the manifest with its receipt. Gives the number of files and the differences.
pub(crate) fn compare_entry(folder: &Path, depth: Depth) -> Result<(usize, Vec<Difference>), super::Error> {
    let path = folder.join("manifest.json");
    let text = files::read_text(&path)?;
    let damaged = |reason: String| super::Error::Damaged { path: path.clone(), reason };
    let manifest: Manifest = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    let receipt: Receipt = serde_json::from_str(&files::read_text(&folder.join("receipt.json"))?)
        .map_err(|e| damaged(e.to_string()))?;
    if manifest.digest() != receipt.tree {
        return Err(damaged("it is not the manifest that the receipt was written with".into()));
    }
    Ok((manifest.entries.len(), compare_tree(&folder.join("tree"), &manifest, &[], depth)?))
}

/// The moment after which nobody has written to an entry that is whole.
pub(crate) fn sealed_at(folder: &Path) -> Result<SystemTime, Error> {
    let path = folder.join("receipt.json");
    std::fs::metadata(&path).and_then(|meta| meta.modified()).named("read", &path)
}

/// Every difference between the tree at `root` and `manifest`; files of `ignored` may be there or not.
pub(crate) fn compare_tree(
    root: &Path,
    manifest: &Manifest,
    ignored: &[&str],
    depth: Depth,
) -> Result<Vec<Difference>, Error> {
    let on_disk = files::list(root)?;
    let mut listed: BTreeMap<&str, &Kind> =
        manifest.entries.iter().map(|entry| (entry.path.as_str(), &entry.kind)).collect();
    let mut differences = Vec::new();
    let mut both = Vec::new();
    for path in &on_disk {
        match listed.remove(path.as_str()) {
            Some(kind) => both.push((path.as_str(), kind)),
            None if ignored.contains(&path.as_str()) => {}
            None => differences.push(Difference::Extra(path.clone())),
        }
    }
    differences.extend(listed.into_keys().map(|path| Difference::Missing(path.to_owned())));
    differences.extend(compare_files(root, &both, depth)?);
    differences.sort_by(|a, b| a.path().cmp(b.path()));
    Ok(differences)
}

/// Compares on all cores; which one takes which file does not matter.
fn compare_files(root: &Path, files: &[(&str, &Kind)], depth: Depth) -> Result<Vec<Difference>, Error> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some((path, kind)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.extend(compare_file(root, path, kind, depth)?);
        }
        Ok(found)
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|t| t.join().unwrap_or_else(|p| std::panic::resume_unwind(p)));
        joined.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, Error>>()
    })
    .map(|found| found.into_iter().flatten().collect())
}

fn compare_file(root: &Path, path: &str, kind: &Kind, depth: Depth) -> Result<Option<Difference>, Error> {
    let full = root.join(path);
    let changed = |expected: String, actual: String| {
        Ok(Some(Difference::Changed { path: path.to_owned(), expected, actual }))
    };
    let meta = std::fs::symlink_metadata(&full).named("read", &full)?;
    match kind {
        Kind::Link { target } if meta.is_symlink() => {
            let actual = std::fs::read_link(&full).named("read", &full)?;
            match actual.as_os_str() == target.as_str() {
                true => Ok(None),
                false => changed(format!("a link to {target}"), format!("a link to {}", actual.display())),
            }
        }
        // On Windows a link was written as a copy.
        Kind::Link { .. } if cfg!(windows) => Ok(None),
        Kind::Link { target } => changed(format!("a link to {target}"), "a file".into()),
        Kind::File { .. } if meta.is_symlink() => changed("a file".into(), "a link".into()),
        Kind::File { size, sha256, .. } => match depth {
            Depth::Quick(_) if meta.len() != *size => {
                changed(format!("{size} bytes"), format!("{} bytes", meta.len()))
            }
            Depth::Quick(moment) => match meta.modified().is_ok_and(|modified| modified <= moment) {
                true => Ok(None),
                false => changed("no write since it was unpacked".into(), "a later one".into()),
            },
            Depth::Deep => {
                let (actual, length) = Sha256::of_file(&full).named("read", &full)?;
                match actual == *sha256 && length == *size {
                    true => Ok(None),
                    false => changed(format!("{size} bytes {sha256}"), format!("{length} bytes {actual}")),
                }
            }
        },
    }
}
