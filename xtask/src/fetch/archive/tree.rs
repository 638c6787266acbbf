//! Writes checked members below one folder and notes each in the tree manifest.

use super::{Refusal, links, name};
use crate::digest::Hasher;
use crate::files;
use crate::store::{Entry, Kind, Manifest};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
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
/// Links are made last, in [`TreeWriter::finish`], so that no member is ever written through one.
pub(crate) struct TreeWriter {
    root: PathBuf,
    only: Vec<String>,
    files: BTreeMap<String, Entry>,
    links: BTreeMap<String, String>,
    folders: BTreeSet<String>,
    /// Folded path to the path as written.
    folded: BTreeMap<String, String>,
    limits: Limits,
    bytes: u64,
    buffer: Vec<u8>,
}

impl TreeWriter {
    /// Writes into `root`, which exists and is empty. Members that are not below one of `only` are checked and left out; empty: all are
    /// written.
    pub(crate) fn new(root: &Path, only: &[String], limits: Limits) -> Self {
        Self {
            root: root.to_owned(),
            only: only.to_vec(),
            files: BTreeMap::new(),
            links: BTreeMap::new(),
            folders: BTreeSet::new(),
            folded: BTreeMap::new(),
            limits,
            bytes: 0,
            buffer: vec![0; 128 << 10],
        }
    }

    /// A folder; its name may come any number of times.
    pub(super) fn folder(&mut self, raw: &[u8]) -> Result<(), Refusal> {
        let path = name::normalise(raw)?;
        if path.is_empty() || !self.is_wanted(&path) {
            return Ok(());
        }
        if self.files.contains_key(&path) || self.links.contains_key(&path) {
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
        let (size, sha256) = self.write(&path, executable, content)?;
        self.files.insert(path.clone(), Entry { path, kind: Kind::File { size, sha256, executable } });
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

    /// A hard link to an earlier file, written as a copy: one tree, no shared state.
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
        let Some(Entry { kind: kind @ Kind::File { .. }, .. }) = self.files.get(&target) else {
            return Err(wrong(&path));
        };
        let kind = kind.clone();
        self.claim(&path)?;
        let (from, to) = (self.root.join(&target), self.root.join(&path));
        fs::copy(&from, &to).map_err(|source| Refusal::Write { verb: "create", path: to, source })?;
        self.files.insert(path.clone(), Entry { path, kind });
        Ok(())
    }

    /// Makes the links and gives the manifest of the tree.
    pub(crate) fn finish(self) -> Result<Manifest, Refusal> {
        links::check(&self.links)?;
        let mut entries: Vec<Entry> = self.files.into_values().collect();
        for (path, target) in self.links {
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
        if self.files.contains_key(path) || self.links.contains_key(path) {
            return Err(Refusal::Duplicate { member: path.to_owned() });
        }
        if self.folders.contains(path) {
            return Err(Refusal::FileAndFolder { member: path.to_owned() });
        }
        if (self.files.len() + self.links.len()) as u64 >= self.limits.members {
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
            if self.files.contains_key(prefix) || self.links.contains_key(prefix) {
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

    fn write(
        &mut self,
        path: &str,
        executable: bool,
        content: &mut dyn Read,
    ) -> Result<(u64, crate::digest::Sha256), Refusal> {
        let full = self.root.join(path);
        let failed = |verb| {
            let path = full.clone();
            move |source| Refusal::Write { verb, path, source }
        };
        files::step();
        let mut file = create(&full, executable).map_err(failed("create"))?;
        let mut hasher = Hasher::new();
        loop {
            match content.read(&mut self.buffer) {
                Ok(0) => break,
                Ok(n) => {
                    self.bytes += n as u64;
                    if self.bytes > self.limits.bytes {
                        return Err(Refusal::TooManyBytes { limit: self.limits.bytes });
                    }
                    hasher.update(&self.buffer[..n]);
                    file.write_all(&self.buffer[..n]).map_err(failed("write"))?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Refusal::unreadable(error)),
            }
        }
        let (sha256, size) = hasher.finish();
        Ok((size, sha256))
    }
}

/// Opens a new file that only its maker can write; never follows or replaces what is there.
fn create(path: &Path, executable: bool) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if executable { 0o555 } else { 0o444 });
    #[cfg(not(unix))]
    let _ = executable;
    options.open(path)
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
