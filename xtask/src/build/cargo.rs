//! The Rust programs and the shared library of a component: built by a child cargo with a target folder and flags of its own.

use super::Error;
use super::component::{Component, Workspace};
use super::environment::{Parent, for_cargo};
use super::run::{Failure, Program, tail};
use crate::lock::Host;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(1800);

/// Builds the component's programs and its library and gives their paths.
pub(super) fn build(
    workspace: &Workspace,
    component: &Component,
    host: Host,
    work: &Path,
    parent: &Parent,
) -> Result<Vec<PathBuf>, Error> {
    if !component.has_rust() {
        return Ok(Vec::new());
    }
    // Not the folder of the cargo that runs xtask: that one is locked, and on Windows holds the running xtask.exe.
    let target_folder = work.join("cargo");
    let mut arguments: Vec<OsString> =
        ["build", "--release", "--locked", "--color", "never", "--target", host.triple()]
            .map(OsString::from)
            .into();
    arguments.extend([
        "--target-dir".into(),
        (&target_folder).into(),
        "--package".into(),
        (&component.name).into(),
    ]);
    arguments.extend(component.binaries.iter().flat_map(|name| ["--bin".into(), name.into()]));
    arguments.extend(component.library.iter().map(|_| "--lib".into()));
    let environment = for_cargo(parent, host, &rust_flags(workspace, parent));
    let cargo = cargo_path();
    let log = work.join(host.triple()).join(&component.name).join("cargo.log");
    let program = Program {
        path: &cargo,
        arguments,
        folder: &workspace.root,
        environment: &environment,
        log: log.clone(),
        limit: LIMIT,
    };
    program.run().map_err(|failure| match failure {
        Failure::Files(error) => Error::Files(error),
        Failure::Start(source) => Error::Start { program: cargo.clone(), source },
        Failure::Interrupted => Error::Interrupted,
        Failure::TimedOut => Error::Cargo {
            component: component.name.clone(),
            status: format!("did not end within {} s", LIMIT.as_secs()),
            tail: String::new(),
            log: log.clone(),
        },
        Failure::Status { status, output } => {
            Error::Cargo { component: component.name.clone(), status, tail: tail(&output), log: log.clone() }
        }
    })?;
    let folder = target_folder.join(host.triple()).join("release");
    let programs = component.binaries.iter().map(|name| format!("{name}{}", host.exe_suffix()));
    let library = component.library.iter().map(|name| host.library_name(name));
    Ok(programs.chain(library).map(|name| folder.join(name)).collect())
}

/// No path of this machine gets into a program.
fn rust_flags(workspace: &Workspace, parent: &Parent) -> Vec<String> {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let home = parent.0.get("HOME").or(parent.0.get("USERPROFILE")).map(PathBuf::from);
    let cargo_home = parent.0.get("CARGO_HOME").map(PathBuf::from).or(home.map(|home| home.join(".cargo")));
    let mut flags = vec![remap(&workspace.root, "/strata")];
    flags.extend(cargo_home.map(|home| remap(&home, "/cargo")));
    flags
}

/// The cargo that runs xtask.
fn cargo_path() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// What the Rust toolchain and the linker say they are: two lines that go into the key.
pub(crate) fn rust_version() -> String {
    let cargo = cargo_path();
    let beside = cargo.with_file_name(format!("rustc{}", std::env::consts::EXE_SUFFIX));
    let rustc = if beside.is_file() { beside } else { "rustc".into() };
    let first_line = |program: &Path, argument: &str| {
        let output = std::process::Command::new(program).arg(argument).output().ok()?;
        String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
    };
    let rustc = first_line(&rustc, "--version").unwrap_or_else(|| "rustc: not found".into());
    let linker = match cfg!(windows) {
        true => None,
        false => first_line(Path::new("cc"), "--version"),
    };
    [Some(rustc), linker].into_iter().flatten().collect::<Vec<_>>().join("; ")
}
