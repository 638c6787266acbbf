//! Writes checked members below one folder and notes each in the tree manifest.

use super::writers::Writers;
use super::{Refusal, links, name};
use crate::files;
use crate::store::{Entry, Kind, Manifest};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How much may be unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Files and links.
    pub(crate) members: u64,
    /// Bytes of all files.
    pub(crate) bytes: u64,
}

impl Limits {
    /// Ten times the largest dist of facts/therock.md 1.4: only an archive that was made to fill a disk has more.
    pub(crate) const GENEROUS: Limits = Limits { members: 1_000_000, bytes: 200_000_000_000 };
}

/// Unpacks one or more archives into one folder.
///
/// Links are made last, in [`TreeWriter::finish`], so that no member is ever written through one; so are copies of hard links, whose files may
/// still be on their way.
pub(crate) struct TreeWriter {
    root: PathBuf,
    only: Vec<String>,
    files: HashSet<String>,
    /// Hard links, each with the file that it is a copy of.
    copies: BTreeMap<String, String>,
    links: BTreeMap<String, String>,
    folders: HashSet<String>,
    /// Folded path to the path as written.
    folded: HashMap<String, String>,
    limits: Limits,
    bytes: u64,
    writers: Writers,
}

impl TreeWriter {
    /// Writes into `root`, which exists and is empty. Members that are not below one of `only` are checked and left out; empty: all are
    /// written.
    pub(crate) fn new(root: &Path, only: &[String], limits: Limits) -> Self {
        Self {
            root: root.to_owned(),
            only: only.to_vec(),
            files: HashSet::new(),
            copies: BTreeMap::new(),
            links: BTreeMap::new(),
            folders: HashSet::new(),
            folded: HashMap::new(),
            limits,
            bytes: 0,
            writers: Writers::new(root),
        }
    }

    /// A folder; its name may come any number of times.
    pub(super) fn folder(&mut self, raw: &[u8]) -> Result<(), Refusal> {
        let path = name::normalise(raw)?;
        if path.is_empty() || !self.is_wanted(&path) {
            return Ok(());
        }
        if self.is_taken(&path) {
            return Err(Refusal::FileAndFolder { member: path });
        }
        self.make_folder(&path)
    }

    /// A regular file.
    pub(super) fn file(
        &mut self,
        raw: &[u8],
        executable: bool,
        content: &mut dyn Read,
    ) -> Result<(), Refusal> {
        let path = name::normalise(raw)?;
        if !self.is_wanted(&path) {
            return io::copy(content, &mut io::sink()).map(drop).map_err(Refusal::unreadable);
        }
        self.claim(&path)?;
        let (unpacked, limit) = (&mut self.bytes, self.limits.bytes);
        self.writers.write(&path, executable, |buffer| {
            let length = read_full(content, buffer).map_err(Refusal::unreadable)?;
            *unpacked += length as u64;
            if *unpacked > limit { Err(Refusal::TooManyBytes { limit }) } else { Ok(length) }
        })?;
        self.files.insert(path);
        Ok(())
    }

    /// A symbolic link, made when everything else is there.
    pub(super) fn symlink(&mut self, raw: &[u8], target: &[u8]) -> Result<(), Refusal> {
        let path = name::normalise(raw)?;
        let target = String::from_utf8_lossy(target).into_owned();
        if !self.is_wanted(&path) {
            return Ok(());
        }
        self.claim(&path)?;
        self.links.insert(path, target);
        Ok(())
    }

    /// A hard link to an earlier file, which becomes a copy of it.
    pub(super) fn hard_link(&mut self, raw: &[u8], target: &[u8]) -> Result<(), Refusal> {
        let path = name::normalise(raw)?;
        if !self.is_wanted(&path) {
            return Ok(());
        }
        let wrong = |path: &str| Refusal::HardLinkTarget {
            member: path.to_owned(),
            target: String::from_utf8_lossy(target).into_owned(),
        };
        let target = name::normalise(target).map_err(|_| wrong(&path))?;
        let target = match self.copies.get(&target) {
            Some(original) => original.clone(),
            None if self.files.contains(&target) => target,
            None => return Err(wrong(&path)),
        };
        self.claim(&path)?;
        self.copies.insert(path, target);
        Ok(())
    }

    /// Waits for all files, makes copies and links, and gives the manifest of the tree.
    pub(crate) fn finish(mut self) -> Result<Manifest, Refusal> {
        links::check(&self.links)?;
        let mut entries = self.writers.finish()?;
        entries.extend(self.make_copies(&entries)?);
        for (path, target) in std::mem::take(&mut self.links) {
            files::step();
            let full = self.root.join(&path);
            make_symlink(&target, &full).map_err(|source| Refusal::Write {
                verb: "create",
                path: full,
                source,
            })?;
            entries.push(Entry { path, kind: Kind::Link { target } });
        }
        Ok(Manifest::new(entries))
    }

    /// One tree, no shared state: what was a hard link is a file of its own.
    fn make_copies(&self, entries: &[Entry]) -> Result<Vec<Entry>, Refusal> {
        let (mut copies, mut bytes, limit) = (Vec::new(), self.bytes, self.limits.bytes);
        for (path, original) in &self.copies {
            files::step();
            let kind = entries.iter().find(|entry| entry.path == *original).map(|entry| entry.kind.clone());
            if let Some(Kind::File { size, .. }) = &kind {
                bytes += size;
            }
            if bytes > limit {
                return Err(Refusal::TooManyBytes { limit });
            }
            let (from, to) = (self.root.join(original), self.root.join(path));
            fs::copy(&from, &to).map_err(|source| Refusal::Write { verb: "create", path: to, source })?;
            copies.extend(kind.map(|kind| Entry { path: path.clone(), kind }));
        }
        Ok(copies)
    }

    fn is_taken(&self, path: &str) -> bool {
        self.files.contains(path) || self.copies.contains_key(path) || self.links.contains_key(path)
    }

    fn is_wanted(&self, path: &str) -> bool {
        let below = |folder: &String| {
            path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.only.is_empty() || self.only.iter().any(below)
    }

    /// Reserves `path` for one file or link and makes its folders.
    fn claim(&mut self, path: &str) -> Result<(), Refusal> {
        if path.is_empty() {
            return Err(Refusal::NotText { member: path.to_owned() });
        }
        if self.is_taken(path) {
            return Err(Refusal::Duplicate { member: path.to_owned() });
        }
        if self.folders.contains(path) {
            return Err(Refusal::FileAndFolder { member: path.to_owned() });
        }
        if (self.files.len() + self.copies.len() + self.links.len()) as u64 >= self.limits.members {
            return Err(Refusal::TooManyMembers { limit: self.limits.members });
        }
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.make_folder(parent)?;
        }
        self.note_folded(path)
    }

    fn make_folder(&mut self, path: &str) -> Result<(), Refusal> {
        if self.folders.contains(path) {
            return Ok(());
        }
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for end in ends {
            let prefix = &path[..end];
            if self.folders.contains(prefix) {
                continue;
            }
            if self.is_taken(prefix) {
                return Err(Refusal::FileAndFolder { member: prefix.to_owned() });
            }
            self.note_folded(prefix)?;
            let full = self.root.join(prefix);
            match fs::create_dir(&full) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Refusal::Write { verb: "create", path: full, source: error });
                }
                _ => self.folders.insert(prefix.to_owned()),
            };
        }
        Ok(())
    }

    fn note_folded(&mut self, path: &str) -> Result<(), Refusal> {
        match self.folded.insert(name::folded(path), path.to_owned()) {
            Some(first) if first != path => Err(Refusal::Collision { first, second: path.to_owned() }),
            _ => Ok(()),
        }
    }
}

/// Fills `buffer` as far as `content` goes.
fn read_full(content: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match content.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(n) => length += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

#[cfg(unix)]
fn make_symlink(target: &str, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Windows asks for a privilege to make links (tar-rs#268), and its dists hold none: a file link becomes a copy.
#[cfg(windows)]
fn make_symlink(target: &str, path: &Path) -> io::Result<()> {
    let parent = path.parent().unwrap_or(path);
    fs::copy(parent.join(target), path).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_hard_links_count_too() {
        let unpack = |bytes: u64| {
            let folder = tempfile::tempdir().expect("temp");
            let mut tree = TreeWriter::new(folder.path(), &[], Limits { members: 9, bytes });
            tree.file(b"a", false, &mut &b"xxx"[..]).expect("within");
            tree.hard_link(b"b", b"a").expect("a file");
            tree.hard_link(b"c", b"b").expect("a link");
            tree.finish().map(|manifest| manifest.bytes())
        };
        assert_eq!(unpack(9).expect("within"), 9);
        assert!(matches!(unpack(8), Err(Refusal::TooManyBytes { limit: 8 })));
    }
}
