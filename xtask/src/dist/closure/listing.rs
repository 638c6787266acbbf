//! Files by path, as the closure sees them: a real tree, or a table in a test.

use super::Binary;
use crate::digest::Sha256;
use crate::files::{self, Named};
use object::read::ReadCache;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A tree of files. Paths are relative to it, with `/`.
pub(crate) trait Listing {
    /// The names of the files and links in `folder`; none when there is no such folder. `""`: the root.
    fn names(&self, folder: &str) -> Vec<String>;
    /// The headers of a file; `None`: it is neither PE nor ELF.
    fn binary(&self, path: &str) -> Result<Option<Binary>, crate::dist::Error>;
    /// The digest of a file.
    fn digest(&self, path: &str) -> Result<Sha256, crate::dist::Error>;
}

/// A tree on the disk.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    root: PathBuf,
    /// File names by folder.
    folders: BTreeMap<String, Vec<String>>,
}

impl Tree {
    /// The tree at `root`, whose files are `paths`.
    pub(crate) fn of_paths<'p>(root: &Path, paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut folders: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in paths {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            folders.entry(folder.to_owned()).or_default().push(name.to_owned());
        }
        Self { root: root.to_owned(), folders }
    }

    /// The tree at `root`, looked at.
    pub(crate) fn scan(root: &Path) -> Result<Self, files::Error> {
        let paths = files::list(root)?;
        Ok(Self::of_paths(root, paths.iter().map(String::as_str)))
    }
}

impl Listing for Tree {
    fn names(&self, folder: &str) -> Vec<String> {
        self.folders.get(folder).cloned().unwrap_or_default()
    }

    fn binary(&self, path: &str) -> Result<Option<Binary>, crate::dist::Error> {
        let full = self.root.join(path);
        let file = File::open(&full).named("open", &full)?;
        let cache = ReadCache::new(file);
        Binary::read(&cache).map_err(|source| crate::dist::Error::Headers { path: full, source })
    }

    fn digest(&self, path: &str) -> Result<Sha256, crate::dist::Error> {
        let full = self.root.join(path);
        Ok(Sha256::of_file(&full).named("read", &full)?.0)
    }
}
