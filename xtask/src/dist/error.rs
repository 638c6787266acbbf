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
    /// Built with this machine's own SDK.
    #[error("{component} for {target} was built with toolchain `{toolchain}`, which is not pinned")]
    NotPinned {
        /// The component.
        component: String,
        /// The target.
        target: Target,
        /// The toolchain's name.
        toolchain: String,
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
        what: String,
    },
    /// An archive could not be written.
    #[error("failed to pack `{}`", .path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: archive::Error,
    },
    /// A name that not every file system takes.
    #[error("`{path}` has a name of more than {limit} bytes")]
    LongName {
        /// In the release.
        path: String,
        /// In bytes.
        limit: usize,
    },
    /// A program or library whose headers cannot be read.
    #[error("failed to read the headers of `{}`", .path.display())]
    Headers {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: object::Error,
    },
    /// Programs that would not start on a user's machine.
    #[error("the release would not start everywhere:\n{}", super::closure::shown_problems(.problems))]
    Closure {
        /// All of them.
        problems: Vec<super::closure::Problem>,
    },
    /// A library of the toolchain has no kernels for a target.
    #[error("{library} has no kernels for {target} in `{folder}`{}", only_for(.present))]
    Kernels {
        /// The library.
        library: &'static str,
        /// The target.
        target: Target,
        /// In the dist.
        folder: String,
        /// The gfx names that the folder has.
        present: Vec<String>,
    },
    /// `--redist` names a folder that is none.
    #[error("`{}` is no Visual C++ redistributable: it has no folder x64/Microsoft.VC*.CRT", .path.display())]
    Redistributable {
        /// The folder.
        path: PathBuf,
    },
    /// The crates that are linked in are not known.
    #[error("failed to list the crates of the programs with cargo metadata")]
    Crates(#[source] Box<cargo_metadata::Error>),
    /// The program for Authenticode failed.
    #[error("`{}` did not sign `{file}` ({status}):\n{output}", .program.display())]
    Signer {
        /// The program.
        program: PathBuf,
        /// In the release.
        file: String,
        /// How it ended.
        status: String,
        /// What it printed.
        output: String,
    },
    /// A key that cannot sign.
    #[error("the signing key of {place} cannot be used")]
    SigningKey {
        /// The file, or the variable of the environment.
        place: String,
        /// The reason.
        source: minisign::PError,
    },
    /// A public key that is none.
    #[error("`{key}` is no public key of minisign")]
    PublicKey {
        /// As it was given.
        key: String,
        /// The reason.
        source: minisign::PError,
    },
    /// A signature was asked for and is not there.
    #[error("`{}` is missing: nothing says who made this release", .path.display())]
    Unsigned {
        /// Where it should be.
        path: PathBuf,
    },
    /// A signature that does not fit.
    #[error("`{}` was not made with this key over this SHA256SUMS", .path.display())]
    Signature {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: minisign::PError,
    },
    /// A zip that no signed list names.
    #[error("`{}` does not list `{name}`", .sums.display())]
    Unlisted {
        /// The SHA256SUMS.
        sums: PathBuf,
        /// The file.
        name: String,
    },
    /// `--merge` was given a folder with nothing to merge.
    #[error("`{}` holds neither artifacts (BUILD.json) nor releases (strata-*.zip)", .path.display())]
    NothingToMerge {
        /// The folder.
        path: PathBuf,
    },
    /// Artifacts of a host whose releases are not packed here.
    #[error("`{}` is for {host}, whose releases are packed there", .path.display())]
    OtherHost {
        /// The artifact folder.
        path: PathBuf,
        /// The triple.
        host: String,
    },
    /// A BUILD.json whose words are not this workspace's.
    #[error("`{}` is of the {what} `{value}`, which is not of this workspace", .path.display())]
    Foreign {
        /// The artifact folder.
        path: PathBuf,
        /// `version`, `host`, `component` or `target`.
        what: &'static str,
        /// As its BUILD.json says.
        value: String,
    },
    /// Two builds of the same sources differ.
    #[error("two builds of the same sources differ:\n{}", .differences.iter().map(|d| format!("  {d}")).collect::<Vec<_>>().join("\n"))]
    NotReproducible {
        /// One line and more each.
        differences: Vec<String>,
    },
    /// One of the two builds of `--check` failed.
    #[error("the build in `{}` failed ({status}):\n{output}", .folder.display())]
    CheckBuild {
        /// The copy.
        folder: PathBuf,
        /// How it ended.
        status: String,
        /// Its last lines.
        output: String,
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
    /// A repository that git does not answer about.
    #[error("git tells nothing of `{}`:\n{words}", .root.display())]
    Git {
        /// The workspace.
        root: PathBuf,
        /// What git printed.
        words: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

fn only_for(present: &[String]) -> String {
    match present.is_empty() {
        true => ", which is empty or missing".to_owned(),
        false => format!(", only for {}", present.join(", ")),
    }
}
