//! One file of a release: where it goes, what it holds, and where it comes from.

use super::Error;
use crate::digest::{Hasher, Sha256};
use crate::files::Named;
use archive::Content;
use rayon::prelude::*;
use sha1::Digest;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest name of a file that Windows and Linux both take, in bytes.
const LONGEST_NAME: usize = 255;

/// One file of a release.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Below the release's folder, with `/`.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) content: Content,
    /// Of the content.
    pub(crate) digests: Digests,
    /// Whether it is a program.
    pub(crate) executable: bool,
    /// Who made it.
    pub(crate) origin: Origin,
}

/// The digests of a file; SPDX asks for SHA-1 beside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digests {
    /// SHA-256.
    pub(crate) sha256: Sha256,
    /// SHA-1 in hex.
    pub(crate) sha1: String,
}

/// Who made a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// A component of this workspace.
    Component(String),
    /// A package of the toolchain: its name and version.
    Package(String, String),
    /// The Visual C++ redistributable.
    Redistributable,
    /// dist itself: texts and lists.
    Release,
}

/// A file that is going to be a member, before its digests are known.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    /// See [`Member`].
    pub(crate) path: String,
    /// See [`Member`].
    pub(crate) content: Content,
    /// What a manifest says that it must be.
    pub(crate) expected: Option<Sha256>,
    /// See [`Member`].
    pub(crate) executable: bool,
    /// See [`Member`].
    pub(crate) origin: Origin,
}

impl Draft {
    /// A text that dist made.
    pub(crate) fn text(path: &str, content: Vec<u8>) -> Self {
        Self {
            path: path.to_owned(),
            content: Content::Bytes(content),
            expected: None,
            executable: false,
            origin: Origin::Release,
        }
    }

    /// A file of the disk.
    pub(crate) fn file(
        path: String,
        from: &Path,
        size: u64,
        expected: Option<Sha256>,
        origin: Origin,
    ) -> Self {
        let content = Content::File { path: from.to_owned(), size };
        Self { path, content, expected, executable: false, origin }
    }

    fn finish(self) -> Result<Member, Error> {
        let digests = Digests::of(&self.content)?;
        if let (Some(expected), Content::File { path, .. }) = (self.expected, &self.content)
            && expected != digests.sha256
        {
            return Err(Error::Changed { path: path.clone(), expected, actual: digests.sha256 });
        }
        let Self { path, content, executable, origin, .. } = self;
        Ok(Member { path, content, digests, executable, origin })
    }
}

/// Hashes all drafts on all cores, compares them with what they must be, and sorts them by path.
pub(crate) fn finish_all(drafts: Vec<Draft>) -> Result<Vec<Member>, Error> {
    drafts.iter().try_for_each(|draft| check_names(&draft.path))?;
    let mut members: Vec<Member> = drafts.into_par_iter().map(Draft::finish).collect::<Result<_, _>>()?;
    members.sort_by(|a, b| a.path.cmp(&b.path));
    match members.windows(2).find(|pair| pair[0].path.eq_ignore_ascii_case(&pair[1].path)) {
        Some(pair) => Err(Error::Collision {
            path: pair[1].path.clone(),
            first: pair[0].origin.to_string(),
            second: pair[1].origin.to_string(),
        }),
        None => Ok(members),
    }
}

/// Refuses a path with a name that not every file system takes.
pub(super) fn check_names(path: &str) -> Result<(), Error> {
    match path.split('/').any(|name| name.len() > LONGEST_NAME) {
        true => Err(Error::LongName { path: path.to_owned(), limit: LONGEST_NAME }),
        false => Ok(()),
    }
}

impl Digests {
    /// Of a member's content.
    pub(crate) fn of(content: &Content) -> Result<Self, Error> {
        match content {
            Content::Bytes(bytes) => {
                Ok(Self { sha256: Sha256::of(bytes), sha1: hex(&sha1::Sha1::digest(bytes)) })
            }
            Content::File { path, .. } => {
                let mut file = File::open(path).named("open", path)?;
                let (mut hasher, mut sha1) = (Hasher::new(), sha1::Sha1::new());
                let mut buffer = vec![0; 128 << 10];
                loop {
                    match file.read(&mut buffer).named("read", path)? {
                        0 => break,
                        n => {
                            hasher.update(&buffer[..n]);
                            sha1.update(&buffer[..n]);
                        }
                    }
                }
                Ok(Self { sha256: hasher.finish().0, sha1: hex(&sha1.finalize()) })
            }
        }
    }
}

/// Bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Component(name) => f.write_str(name),
            Origin::Package(name, version) => write!(f, "{name} {version}"),
            Origin::Redistributable => f.write_str("Visual C++ redistributable"),
            Origin::Release => f.write_str("dist"),
        }
    }
}
