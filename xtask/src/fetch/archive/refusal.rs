//! One variant for each way in which an archive can be unacceptable.

use std::path::PathBuf;

/// Why an archive is not unpacked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// A name that tells no known format.
    #[error("`{file}` is no archive: expected .tar, .tar.gz, .tgz, .tar.xz, .tar.zst, .zip, .whl or .deb")]
    Format {
        /// The file's name.
        file: String,
    },
    /// The decoder gave up: truncated or damaged.
    #[error("the archive is damaged: {reason}")]
    Unreadable {
        /// What the decoder said.
        reason: String,
    },
    /// The tar stream ends without its two blocks of zeros.
    #[error("the archive ends without an end marker after {members} members: it was cut")]
    NoEnd {
        /// Members before the end.
        members: usize,
    },
    /// Bytes after the end of the archive.
    #[error("there are bytes after the end of the archive")]
    TrailingBytes,
    /// `/etc/passwd`, `C:\x`
    #[error("member `{member}` has an absolute path")]
    Absolute {
        /// Its name.
        member: String,
    },
    /// `a/../b`
    #[error("member `{member}` has `..` in its path")]
    ParentFolder {
        /// Its name.
        member: String,
    },
    /// Not UTF-8, a control character, or nothing at all.
    #[error("member `{member}` has a name that is not plain text")]
    NotText {
        /// Its name, lossily.
        member: String,
    },
    /// `aux`, `a:b`, `x.`
    #[error("member `{member}` has a name that Windows cannot hold ({why})")]
    WindowsName {
        /// Its name.
        member: String,
        /// Which rule.
        why: &'static str,
    },
    /// One path twice.
    #[error("member `{member}` is there twice")]
    Duplicate {
        /// Its name.
        member: String,
    },
    /// Two paths that are one on Windows or macOS.
    #[error(
        "members `{first}` and `{second}` are one file where case or the writing of accents does not count"
    )]
    Collision {
        /// The earlier name.
        first: String,
        /// The later name.
        second: String,
    },
    /// A file where another member needs a folder, or the other way round.
    #[error("member `{member}` is both a file and a folder")]
    FileAndFolder {
        /// Its name.
        member: String,
    },
    /// A symbolic link that points out of the tree.
    #[error("link `{member}` points to `{target}`, out of the archive")]
    LinkEscapes {
        /// Its name.
        member: String,
        /// Where it points.
        target: String,
    },
    /// Symbolic links that lead to each other.
    #[error("link `{member}` leads back to itself")]
    LinkLoop {
        /// Its name.
        member: String,
    },
    /// More members than the lock says, or than any dist has.
    #[error("the archive has more than {limit} members")]
    TooManyMembers {
        /// How many there may be.
        limit: u64,
    },
    /// More bytes than the lock says, or than any dist has.
    #[error("the archive unpacks to more than {limit} bytes")]
    TooManyBytes {
        /// How many there may be.
        limit: u64,
    },
    /// A hard link to something that is no earlier file of the archive.
    #[error("hard link `{member}` points to `{target}`, which is no earlier file of the archive")]
    HardLinkTarget {
        /// Its name.
        member: String,
        /// Where it points.
        target: String,
    },
    /// A device, a fifo, a socket, an unknown type.
    #[error("member `{member}` is a {kind}, which no toolchain needs")]
    SpecialFile {
        /// Its name.
        member: String,
        /// What it is.
        kind: String,
    },
    /// A sparse file, which the tar reader would unpack wrong.
    #[error("member `{member}` is a sparse file, which is not supported")]
    Sparse {
        /// Its name.
        member: String,
    },
    /// Our disk.
    #[error("failed to {verb} `{path}`")]
    Write {
        /// `create`, `write`, …
        verb: &'static str,
        /// What.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl Refusal {
    /// From an error of a decoder.
    pub(super) fn unreadable(error: impl std::fmt::Display) -> Self {
        Refusal::Unreadable { reason: error.to_string() }
    }
}
