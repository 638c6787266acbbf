//! What can go wrong between a verified archive and an installed toolchain.

use super::LayoutError;
use std::path::PathBuf;

/// An install that did not happen; the store is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A file operation.
    #[error(transparent)]
    Files(#[from] crate::files::Error),
    /// The download or its verification.
    #[error("failed to fetch {package} {version}")]
    Fetch {
        /// Its name in the lock.
        package: String,
        /// Its version.
        version: String,
        /// The reason.
        source: Box<crate::fetch::Error>,
    },
    /// Not enough room.
    #[error("`{path}` has {available} free, {package} needs about {needed}")]
    NoSpace {
        /// The store.
        path: PathBuf,
        /// What wanted it.
        package: String,
        /// Human-readable.
        needed: String,
        /// Human-readable.
        available: String,
    },
    /// The tree lacks what the package is for.
    #[error("{package} {version} is not what the lock says it provides")]
    Layout {
        /// Its name in the lock.
        package: String,
        /// Its version.
        version: String,
        /// What is missing.
        source: LayoutError,
    },
    /// `.info/version` of a dist tells another release than the lock.
    #[error("{package} says in `{file}` that it is {found}, the lock says {expected}")]
    Version {
        /// Its name in the lock.
        package: String,
        /// Relative to the tree.
        file: String,
        /// In the lock.
        expected: String,
        /// In the tree.
        found: String,
    },
    /// The store lies too deep for the package's files.
    #[error("failed to place {package} {version} in the store")]
    PathLength {
        /// Its name in the lock.
        package: String,
        /// Its version.
        version: String,
        /// Which file, and whose limit.
        source: super::TooLong,
    },
    /// A receipt or manifest that cannot be read.
    #[error("`{path}` is damaged: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A package that a command needs and nobody has installed.
    #[error("toolchain `{toolchain}` is not installed: {package} is missing from `{store}`")]
    NotInstalled {
        /// The toolchain.
        toolchain: String,
        /// Its first missing package.
        package: String,
        /// The store.
        store: PathBuf,
    },
    /// A toolchain for another system.
    #[error("toolchain `{toolchain}` runs on {host}, this machine is {this}")]
    OtherHost {
        /// The toolchain.
        toolchain: String,
        /// Its host.
        host: &'static str,
        /// This host.
        this: &'static str,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}
