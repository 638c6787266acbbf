//! A folder on the store's volume that is gone when its owner is, unless it was published.

use crate::files::{self, Error};
use std::path::{Path, PathBuf};

/// `store/staging/<key>/`
#[derive(Debug)]
pub(super) struct Staging {
    path: PathBuf,
}

impl Staging {
    /// An empty folder for one key. The caller holds the key's lock, so what lies there is left over from a process that died.
    pub(super) fn create(root: &Path, name: &str) -> Result<Self, Error> {
        let path = root.join("staging").join(name);
        files::remove_tree(&path)?;
        files::create_folder(&path)?;
        Ok(Self { path })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the part `entry` of it the name `to`; what is there goes to the trash first.
    pub(super) fn publish(self, entry: &str, root: &Path, to: &Path) -> Result<(), Error> {
        let entry = self.path.join(entry);
        files::sync(&entry)?;
        discard(root, to)?;
        files::rename(&entry, to)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Nobody is there to hear of a failure, and the next run removes what is left.
        let _ = files::remove_tree(&self.path);
    }
}

/// Takes `path` out of sight by a rename, then removes it: a process that dies between leaves no half entry.
pub(super) fn discard(root: &Path, path: &Path) -> Result<(), Error> {
    if std::fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let trash = root.join("trash");
    files::create_folder(&trash)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let out_of_sight = trash.join(format!("{name}.{}", std::process::id()));
    if path.parent() == Some(trash.as_path()) {
        return files::remove_tree(path);
    }
    files::remove_tree(&out_of_sight)?;
    files::rename(path, &out_of_sight)?;
    files::remove_tree(&out_of_sight)
}
