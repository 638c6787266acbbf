//! What can be wrong with a lock, each with its place and what was expected.

use std::path::PathBuf;

/// A lock that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// No such file, or it cannot be read.
    #[error("failed to read `{path}`")]
    Read {
        /// The lock's path.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Not TOML, an unknown or missing key, or a value of the wrong type.
    #[error("{path}:{line}:{column}: {message}")]
    Syntax {
        /// The lock's path.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What is wrong and what was expected.
        message: String,
    },
    /// Written for another xtask.
    #[error("{path}:{line}:{column}: this lock has format {found}, this xtask reads format {expected}")]
    Format {
        /// The lock's path.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// The format of the file.
        found: i64,
        /// The format that is read.
        expected: i64,
    },
    /// The file says two things that do not go together.
    #[error("{path}:{line}:{column}: {message}")]
    Contradiction {
        /// The lock's path.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// Which things.
        message: String,
    },
    /// `--toolchain` names none of the lock's.
    #[error("the lock has no toolchain `{name}` for {host}; it has {}", .known.join(", "))]
    UnknownToolchain {
        /// What was asked for.
        name: String,
        /// For which host.
        host: &'static str,
        /// What there is for this host.
        known: Vec<String>,
        /// The known name that is most like it.
        nearest: Option<String>,
    },
    /// The toolchain has no code generator or device libraries for a wanted target.
    #[error("toolchain `{toolchain}` cannot build {target}; it builds {}", .known.join(", "))]
    TargetNotBuilt {
        /// Its name.
        toolchain: String,
        /// The wanted target.
        target: gfx::Target,
        /// What it builds.
        known: Vec<String>,
    },
    /// `--locked` was given and the lock would change.
    #[error("`{path}` would change, and --locked forbids that")]
    Locked {
        /// The lock's path.
        path: PathBuf,
    },
}
