//! The input key: a digest over everything that can change an output, kept in named pieces so that a rebuild can say why.

use crate::digest::{Hasher, Sha256};
use crate::files::{self, Error, Named};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Inputs of the programs and shared files beside the code objects.
pub(super) const RUST_SOURCES: &str = "Rust sources";
pub(super) const RUST_TOOLCHAIN: &str = "Rust toolchain";
pub(super) const SHARED_FILES: &str = "shared files";

/// The digest of each kind of input.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Inputs(pub(crate) BTreeMap<String, Sha256>);

impl Inputs {
    /// Adds one piece.
    pub(crate) fn add(&mut self, name: &str, digest: Sha256) {
        self.0.insert(name.to_owned(), digest);
    }

    /// The key.
    pub(crate) fn key(&self) -> Sha256 {
        let mut hasher = Hasher::new();
        for (name, digest) in &self.0 {
            hasher.field(name);
            hasher.field(&digest.to_string());
        }
        hasher.finish().0
    }

    /// Whether both make the same code objects: what goes only into the programs beside them may differ.
    pub(crate) fn same_for_code_objects(&self, other: &Inputs) -> bool {
        const OF_PROGRAMS: [&str; 3] = [RUST_SOURCES, RUST_TOOLCHAIN, SHARED_FILES];
        let changed = self.changed_since(other);
        changed.iter().all(|name| OF_PROGRAMS.contains(&name.as_str()))
    }

    /// The names of the pieces that differ from `before`.
    pub(crate) fn changed_since(&self, before: &Inputs) -> Vec<String> {
        let names = self.0.keys().chain(before.0.keys());
        let mut changed: Vec<String> =
            names.filter(|n| self.0.get(*n) != before.0.get(*n)).cloned().collect();
        changed.sort();
        changed.dedup();
        changed
    }
}

/// What `cargo xtask env --write` puts beside a CMakeLists.txt for an IDE: no build reads it.
pub(crate) const OF_THE_IDE: &str = "CMakeUserPresets.json";

/// The digest of every file below `folders`, by path relative to `root` and content; line ends count, times do not.
pub(crate) fn digest_sources(root: &Path, folders: &[PathBuf]) -> Result<Sha256, Error> {
    let mut hasher = Hasher::new();
    for folder in folders {
        let shown = files::forward_slashes(folder.strip_prefix(root).unwrap_or(folder));
        let paths = if folder.is_file() { vec![String::new()] } else { files::list(folder)? };
        for path in paths.into_iter().filter(|path| path != OF_THE_IDE) {
            let full = if path.is_empty() { folder.clone() } else { folder.join(&path) };
            let (digest, _) = Sha256::of_file(&full).named("read", &full)?;
            hasher.field(&format!("{shown}/{path}"));
            hasher.field(&digest.to_string());
        }
    }
    Ok(hasher.finish().0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_named_and_changes_the_key() {
        let mut before = Inputs::default();
        before.add("flags", Sha256::of(b"1"));
        before.add("sources", Sha256::of(b"1"));
        let mut after = before.clone();
        assert_eq!((after.key(), after.changed_since(&before)), (before.key(), vec![]));
        after.add("sources", Sha256::of(b"2"));
        after.add("rust", Sha256::of(b"3"));
        assert_ne!(after.key(), before.key());
        assert_eq!(after.changed_since(&before), ["rust", "sources"]);
        assert_eq!(before.changed_since(&after), ["rust", "sources"]);
    }

    #[test]
    fn sources_count_by_name_and_content_and_not_by_place() {
        let digest = |files: &[(&str, &str)]| {
            let root = tempfile::tempdir().expect("temp");
            for (name, text) in files {
                let path = root.path().join("native").join(name);
                std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
                std::fs::write(path, text).expect("write");
            }
            digest_sources(root.path(), &[root.path().join("native")]).expect("digest")
        };
        let one = digest(&[("a.hip", "x"), ("sub/b.hip", "y")]);
        assert_eq!(one, digest(&[("sub/b.hip", "y"), ("a.hip", "x")]));
        assert_eq!(one, digest(&[("a.hip", "x"), ("sub/b.hip", "y"), ("CMakeUserPresets.json", "z")]));
        assert_ne!(one, digest(&[("a.hip", "y"), ("sub/b.hip", "x")]));
        assert_ne!(one, digest(&[("a.hip", "x"), ("sub/c.hip", "y")]));
    }
}
