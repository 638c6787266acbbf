//! What can stop a release; no zip gets its final name then.

use crate::digest::Sha256;
use gfx::Target;
use std::path::PathBuf;

/// A release that was not made, or one that is not what it says.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A file operation.
    #[error(transparent)]
    Files(#[from] crate::files::Error),
    /// A store entry whose own records cannot be read.
    #[error(transparent)]
    Store(#[from] crate::store::Error),
    /// A component was not built for a target.
    #[error("{component} is not built for {target}: `{}` is missing", .path.display())]
    NotBuilt {
        /// The component.
        component: String,
        /// The target.
        target: Target,
        /// Its BUILD.json.
        path: PathBuf,
    },
    /// An output is not what its BUILD.json says.
    #[error("`{}` is not what BUILD.json says: expected {expected}, found {actual}", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// In BUILD.json.
        expected: Sha256,
        /// On the disk.
        actual: Sha256,
    },
    /// Two components bring one file.
    #[error("`{path}` comes from {first} and from {second}")]
    Collision {
        /// In the release.
        path: String,
        /// A component.
        first: String,
        /// Another.
        second: String,
    },
    /// Artifacts of different toolchains, locks or versions.
    #[error("{first} and {second} were not built with the same {what}")]
    Mixed {
        /// A component.
        first: String,
        /// Another.
        second: String,
        /// `lock`, `toolchain`, …
        what: &'static str,
    },
    /// The zip could not be written.
    #[error("failed to write `{}`", .path.display())]
    Zip {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: zip::result::ZipError,
    },
    /// A zip that is no release of ours, or a damaged one.
    #[error("`{}` cannot be unpacked", .path.display())]
    Unpack {
        /// The zip.
        path: PathBuf,
        /// The reason.
        source: crate::fetch::Refusal,
    },
    /// A SHA256SUMS file that cannot be read.
    #[error("`{}`:{line}: expected `<sha256>  <file>`", .path.display())]
    Sums {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// What is to be verified is nothing that can be.
    #[error("`{}` is no store entry, no artifact folder and no release: it has no receipt.json, BUILD.json or SHA256SUMS", .path.display())]
    NothingToVerify {
        /// The path.
        path: PathBuf,
    },
    /// Files differ from what was recorded.
    #[error("`{}` differs from its recorded hashes:\n{}", .path.display(), .differences.iter().map(|d| format!("  {d}")).collect::<Vec<_>>().join("\n"))]
    Differs {
        /// The folder or zip.
        path: PathBuf,
        /// One line each.
        differences: Vec<String>,
    },
    /// A program of the unpacked release failed.
    #[error("`{program}` of the unpacked release failed ({status}):\n{output}")]
    Start {
        /// The program and its arguments.
        program: String,
        /// How it ended.
        status: String,
        /// What it printed.
        output: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}
