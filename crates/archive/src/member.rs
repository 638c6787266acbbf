//! What goes into an archive.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// One regular file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name in the archive, with `/`.
    pub name: String,
    /// What it holds.
    pub content: Content,
    /// Mode 0755, else 0644.
    pub executable: bool,
}

/// What a member holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The first `size` bytes of a file, which is read only while the archive is written.
    File {
        /// Where it lies.
        path: PathBuf,
        /// How long it is, in bytes.
        size: u64,
    },
}

/// An archive that was not written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A member's file.
    #[error("failed to read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The archive itself.
    #[error("failed to write the archive")]
    Write(#[source] io::Error),
    /// A name that the format cannot hold.
    #[error("the name of `{name}` has {} bytes, more than {limit}", name.len())]
    Name {
        /// The member.
        name: String,
        /// In bytes.
        limit: usize,
    },
}

impl Content {
    /// In bytes.
    pub fn size(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::File { size, .. } => *size,
        }
    }

    /// `length` bytes from `start`.
    pub(crate) fn read_at(&self, start: u64, length: usize) -> Result<Vec<u8>, Error> {
        match self {
            Content::Bytes(bytes) => {
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                Ok(bytes[start..start + length].to_vec())
            }
            Content::File { path, .. } => {
                let read = || {
                    let mut file = File::open(path)?;
                    file.seek(SeekFrom::Start(start))?;
                    let mut bytes = vec![0; length];
                    file.read_exact(&mut bytes)?;
                    Ok(bytes)
                };
                read().map_err(|source| Error::Read { path: path.clone(), source })
            }
        }
    }
}
