//! What in a store nobody needs, decided before anything is removed.

use super::{Error, Store};
use crate::digest::Sha256;
use crate::files::{self, Named, ProcessLock};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Which unused entries stay all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Keep {
    /// The newest so many.
    pub(crate) newest: usize,
    /// All that are younger than this.
    pub(crate) younger_than: Duration,
}

/// What a lock names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Used {
    /// The keys of entries.
    pub(crate) entries: BTreeSet<Sha256>,
    /// The digests of archives.
    pub(crate) archives: BTreeSet<Sha256>,
}

/// Something to remove.
#[derive(Debug)]
pub(crate) struct Garbage {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Why it may go.
    pub(crate) why: &'static str,
    /// In bytes.
    pub(crate) bytes: u64,
    /// Who makes it holds this lock.
    lock: Option<PathBuf>,
}

/// An entry that no lock names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unused {
    name: String,
    age: Duration,
}

/// A download that nobody has written to for so long is not running.
const IDLE: Duration = Duration::from_secs(86_400);

impl Store {
    /// What can go when what is `used` is needed: other entries, and what processes that died have left.
    pub(crate) fn garbage(&self, used: &Used, keep: Keep) -> Result<Vec<Garbage>, Error> {
        let short = |keys: &BTreeSet<Sha256>| keys.iter().map(|key| key.short()).collect::<BTreeSet<_>>();
        let (entries, archives) = (short(&used.entries), short(&used.archives));
        let mut garbage = Vec::new();
        // First what needs no lock, so that a full disk has room for the locks of the rest.
        let trash = self.root.join("trash");
        for name in names(&trash) {
            garbage.push(weigh(trash.join(name), "removed, and still held at that time", None)?);
        }
        let partials = self.root.join("partials");
        let is_known = |name: &str| archives.contains(name.split('.').next().unwrap_or_default());
        for name in names(&partials).into_iter().filter(|name| !is_known(name)) {
            let path = partials.join(name);
            if age(&path) >= IDLE {
                garbage.push(weigh(path, "kept of a download that the lock does not name", None)?);
            }
        }
        let unused = self.entries().into_iter().filter(|name| !entries.contains(name));
        let installed = |name: &String| age(&self.root.join(name).join("receipt.json"));
        let unused = unused.map(|name| Unused { age: installed(&name), name }).collect();
        for name in choose(unused, keep) {
            let lock = self.lock_of(&name);
            if !ProcessLock::is_held(&lock)? {
                garbage.push(weigh(self.root.join(name), "no toolchain of the lock uses it", Some(lock))?);
            }
        }
        let staging = self.root.join("staging");
        for name in names(&staging) {
            let lock = self.lock_of(&name);
            if !ProcessLock::is_held(&lock)? {
                garbage.push(weigh(staging.join(name), "left by a process that died", Some(lock))?);
            }
        }
        Ok(garbage)
    }

    /// Removes it, unless somebody has begun to make it; tells whether it is gone.
    pub(crate) fn remove(&self, garbage: &Garbage) -> Result<bool, Error> {
        let _lock = match garbage.lock.as_deref().map(|lock| (lock, ProcessLock::try_acquire(lock))) {
            None => None,
            Some((_, Ok(Some(lock)))) => Some(lock),
            Some((_, Ok(None))) => return Ok(false),
            // A full disk has no room for a lock, and this is what makes room: who makes the entry has made its lock before.
            Some((lock, Err(error))) if files::is_disk_full(&error.source) => {
                match ProcessLock::is_held(lock)? {
                    true => return Ok(false),
                    false => None,
                }
            }
            Some((_, Err(error))) => return Err(error.into()),
        };
        self.discard(&garbage.path)?;
        Ok(true)
    }

    fn lock_of(&self, name: &str) -> PathBuf {
        self.root.join("locks").join(format!("{name}.lock"))
    }
}

/// How long ago a file was written; what cannot be asked is old.
fn age(path: &Path) -> Duration {
    let written = std::fs::metadata(path).and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    SystemTime::now().duration_since(written).unwrap_or_default()
}

fn weigh(path: PathBuf, why: &'static str, lock: Option<PathBuf>) -> Result<Garbage, Error> {
    let files = if path.is_dir() { files::list(&path)? } else { vec![String::new()] };
    let mut bytes = 0;
    for file in files {
        let full = if file.is_empty() { path.clone() } else { path.join(file) };
        bytes += std::fs::symlink_metadata(&full).named("read", &full)?.len();
    }
    Ok(Garbage { path, why, bytes, lock })
}

/// The names of the entries that go: not the newest, not the young ones.
fn choose(mut unused: Vec<Unused>, keep: Keep) -> Vec<String> {
    unused.sort_by(|a, b| a.age.cmp(&b.age).then_with(|| a.name.cmp(&b.name)));
    let goes = unused.into_iter().skip(keep.newest).filter(|entry| entry.age >= keep.younger_than);
    goes.map(|entry| entry.name).collect()
}

fn names(folder: &Path) -> Vec<String> {
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
