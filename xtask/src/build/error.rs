//! What can stop a build; the last good artifact stays where it was.

use crate::lock::Host;
use gfx::Target;
use std::path::{Path, PathBuf};

/// A build that did not happen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A file operation.
    #[error(transparent)]
    Files(#[from] crate::files::Error),
    /// cargo could not describe the workspace.
    #[error("failed to read the workspace with cargo metadata")]
    Metadata(#[source] Box<cargo_metadata::Error>),
    /// `[package.metadata.component]` that is not understood.
    #[error("`{manifest}`: [package.metadata.component]: {reason}")]
    ComponentMetadata {
        /// The Cargo.toml.
        manifest: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// `--from` a folder that is no project.
    #[error("--from `{folder}`: there is no component.toml{}", beside(.elsewhere.as_deref()))]
    NoProject {
        /// The folder.
        folder: PathBuf,
        /// The file of the workspace that may describe it too.
        elsewhere: Option<PathBuf>,
    },
    /// `--from` neither a folder nor a source package.
    #[error("--from `{name}`: there is no such folder, and toolchain `{toolchain}` has {}", sources(.known))]
    NoSource {
        /// What was asked for.
        name: String,
        /// The toolchain.
        toolchain: String,
        /// Its source packages.
        known: Vec<String>,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// A component.toml that is not understood.
    #[error("`{file}`: {reason}")]
    Project {
        /// The component.toml.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// `--component` names none.
    #[error("there is no component `{name}`; the workspace has {}", .known.join(", "))]
    UnknownComponent {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// A component needs something that the toolchain does not have.
    #[error("component {component} needs `{part}`, which toolchain `{toolchain}` does not have")]
    MissingPart {
        /// The component.
        component: String,
        /// The part's name in the lock.
        part: String,
        /// The toolchain.
        toolchain: String,
    },
    /// A file of the toolchain is gone since its installation.
    #[error("toolchain `{toolchain}` is damaged: `{path}` is missing")]
    DamagedToolchain {
        /// The toolchain.
        toolchain: String,
        /// The file.
        path: PathBuf,
    },
    /// A program of the build could not be started.
    #[error("failed to start `{program}`")]
    Start {
        /// Its path.
        program: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A step ended with an error.
    #[error("{component} for {target}: {step} failed ({status}){}\n{tail}\n  log: {}", what(.failed), .log.display())]
    Step {
        /// The component.
        component: String,
        /// The target.
        target: Target,
        /// `configure`, `compile`, …
        step: &'static str,
        /// How the program ended.
        status: String,
        /// What did not compile: the kernels' names.
        failed: Vec<String>,
        /// The last lines of its output.
        tail: String,
        /// The whole output.
        log: PathBuf,
    },
    /// A step took too long and was ended.
    #[error("{component} for {target}: {step} did not end within {seconds} s\n  log: {}", .log.display())]
    TimedOut {
        /// The component.
        component: String,
        /// The target.
        target: Target,
        /// `configure`, `compile`, …
        step: &'static str,
        /// The limit.
        seconds: u64,
        /// The whole output.
        log: PathBuf,
    },
    /// cargo could not build a component's programs.
    #[error("{component}: cargo build failed ({status})\n{tail}\n  log: {}", .log.display())]
    Cargo {
        /// The component.
        component: String,
        /// How cargo ended.
        status: String,
        /// The last lines of its output.
        tail: String,
        /// The whole output.
        log: PathBuf,
    },
    /// Programs for a host that this machine cannot make.
    #[error("no programs for {host} can be built here: {what}")]
    CrossBuild {
        /// Which.
        host: Host,
        /// What is missing.
        what: &'static str,
        /// What mends it.
        mend: &'static str,
    },
    /// Somebody wrote to the sources during the build, so that nobody knows what was compiled.
    #[error("{component} for {target}: {} changed while they were built", .changed.join(" and "))]
    SourcesChanged {
        /// The component.
        component: String,
        /// The target.
        target: Target,
        /// Which inputs.
        changed: Vec<String>,
    },
    /// A code object that compiled and is not acceptable.
    #[error("{component} for {target}: {kernel}: {reason}")]
    Gate {
        /// The component.
        component: String,
        /// The target.
        target: Target,
        /// The code object's name.
        kernel: String,
        /// Which rule it breaks.
        reason: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

fn beside(elsewhere: Option<&Path>) -> String {
    elsewhere.map(|file| format!(" in it, and no `{}`", file.display())).unwrap_or_default()
}

fn sources(known: &[String]) -> String {
    match known.is_empty() {
        true => "no source packages".to_owned(),
        false => format!("only these source packages: {}", known.join(", ")),
    }
}

fn what(failed: &[String]) -> String {
    match failed.is_empty() {
        true => String::new(),
        false => format!(", kernel {}", failed.join(", ")),
    }
}
