//! What in a store nobody needs, decided before anything is removed.

use super::{Error, Store};
use crate::digest::Sha256;
use crate::files::{self, Named, ProcessLock};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Which unused entries stay all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Keep {
    /// The newest so many.
    pub(crate) newest: usize,
    /// All that are younger than this.
    pub(crate) younger_than: Duration,
}

/// Something to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Garbage {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Why it may go.
    pub(crate) why: &'static str,
    /// In bytes.
    pub(crate) bytes: u64,
}

/// An entry that no lock names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unused {
    name: String,
    age: Duration,
}

impl Store {
    /// What can go when the entries of `used` are needed: other entries, and what processes that died have left.
    pub(crate) fn garbage(&self, used: &BTreeSet<Sha256>, keep: Keep) -> Result<Vec<Garbage>, Error> {
        let used: BTreeSet<String> = used.iter().map(|key| key.short()).collect();
        let now = SystemTime::now();
        let age = |name: &String| {
            let meta = std::fs::metadata(self.root.join(name).join("receipt.json"));
            let written = meta.and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            now.duration_since(written).unwrap_or_default()
        };
        let unused = self.entries().into_iter().filter(|name| !used.contains(name));
        let unused = unused.map(|name| Unused { age: age(&name), name }).collect();
        let mut garbage = Vec::new();
        for name in choose(unused, keep) {
            garbage.push(self.weigh(self.root.join(name), "no toolchain of the lock uses it")?);
        }
        for name in names(&self.root.join("staging")) {
            if !self.is_locked(&name)? {
                garbage
                    .push(self.weigh(self.root.join("staging").join(name), "left by a process that died")?);
            }
        }
        for name in names(&self.root.join("trash")) {
            garbage.push(
                self.weigh(self.root.join("trash").join(name), "removed, and still held at that time")?,
            );
        }
        Ok(garbage)
    }

    fn weigh(&self, path: PathBuf, why: &'static str) -> Result<Garbage, Error> {
        let mut bytes = 0;
        for file in files::list(&path)? {
            let full = path.join(file);
            bytes += std::fs::symlink_metadata(&full).named("read", &full)?.len();
        }
        Ok(Garbage { path, why, bytes })
    }

    /// Whether a process is making this entry right now.
    fn is_locked(&self, name: &str) -> Result<bool, Error> {
        let lock = self.root.join("locks").join(format!("{name}.lock"));
        Ok(ProcessLock::try_acquire(&lock)?.is_none())
    }
}

/// The names of the entries that go: not the newest, not the young ones.
fn choose(mut unused: Vec<Unused>, keep: Keep) -> Vec<String> {
    unused.sort_by(|a, b| a.age.cmp(&b.age).then_with(|| a.name.cmp(&b.name)));
    let goes = unused.into_iter().skip(keep.newest).filter(|entry| entry.age >= keep.younger_than);
    goes.map(|entry| entry.name).collect()
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        listed.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_and_the_young_stay() {
        let unused = || {
            [("old", 50), ("new", 1), ("middle", 10)]
                .map(|(name, days)| Unused { name: name.into(), age: Duration::from_secs(days * 86_400) })
                .to_vec()
        };
        let days = |days: u64| Duration::from_secs(days * 86_400);
        let gone = |newest, younger| choose(unused(), Keep { newest, younger_than: days(younger) });
        assert_eq!(gone(0, 0), ["new", "middle", "old"]);
        assert_eq!(gone(1, 0), ["middle", "old"]);
        assert_eq!(gone(0, 10), ["middle", "old"]);
        assert_eq!(gone(2, 30), ["old"]);
        assert_eq!(gone(3, 0), Vec::<String>::new());
    }
}
