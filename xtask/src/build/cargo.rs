//! The Rust programs and the shared library of a component: built by a child cargo with a target folder and flags of its own.

use super::Error;
use super::component::{Component, Workspace};
use super::environment::{Parent, Variables, for_cargo};
use super::run::{Failure, Program, tail};
use super::rust::Rust;
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
    rust: &Rust,
    work: &Path,
    parent: &Parent,
) -> Result<Vec<PathBuf>, Error> {
    // Not the folder of the cargo that runs xtask: that one is locked, and on Windows holds the running xtask.exe.
    let target_folder = work.join("cargo");
    let arguments = arguments(component, host, rust, &target_folder);
    let environment = environment(workspace, host, rust, parent);
    let cargo = &rust.cargo;
    let log = work.join(host.triple()).join(&component.name).join("cargo.log");
    let program = Program {
        path: cargo,
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

fn arguments(component: &Component, host: Host, rust: &Rust, target_folder: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        ["build", "--release", "--locked", "--color", "never", "--target", host.triple()]
            .map(OsString::from)
            .into();
    arguments.extend([
        "--target-dir".into(),
        target_folder.into(),
        "--package".into(),
        (&component.name).into(),
    ]);
    arguments.extend(component.binaries.iter().flat_map(|name| ["--bin".into(), name.into()]));
    arguments.extend(component.library.iter().map(|_| "--lib".into()));
    arguments.extend(rust.is_offline.then(|| "--offline".into()));
    arguments.extend(rust.std_sources.iter().map(|_| "-Zbuild-std=std,panic_abort".into()));
    arguments
}

fn environment(workspace: &Workspace, host: Host, rust: &Rust, parent: &Parent) -> Variables {
    let mut flags = paths_out_of_programs(workspace, rust, parent);
    flags.extend(link_flags(host).iter().map(ToString::to_string));
    let mut environment = for_cargo(parent, Host::THIS, &flags);
    if let Some(rustc) = &rust.rustc {
        environment.insert("RUSTC".into(), rustc.display().to_string());
    }
    if rust.std_sources.is_some() {
        // A stable compiler takes -Z options only then.
        environment.insert("RUSTC_BOOTSTRAP".into(), "1".into());
    }
    environment
}

fn link_flags(host: Host) -> &'static [&'static str] {
    match host {
        // What a program loads by name is found in its release (docs/release.md, "Import closure").
        Host::Linux => &["-Clink-arg=-Wl,--enable-new-dtags,-rpath,$ORIGIN/rocm/lib"],
        // GNU ld writes the time of the build into the header else.
        Host::WindowsGnu => &["-Clink-arg=-Wl,--no-insert-timestamp"],
        Host::WindowsMsvc => &[],
    }
}

/// No path of this machine gets into a program.
fn paths_out_of_programs(workspace: &Workspace, rust: &Rust, parent: &Parent) -> Vec<String> {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let home = parent.0.get("HOME").or(parent.0.get("USERPROFILE")).map(PathBuf::from);
    let cargo_home = parent.0.get("CARGO_HOME").map(PathBuf::from).or(home.map(|home| home.join(".cargo")));
    let mut flags = vec![remap(&workspace.root, "/strata")];
    flags.extend(cargo_home.map(|home| remap(&home, "/cargo")));
    flags.extend(rust.std_sources.as_ref().map(|sources| remap(sources, "/rustc")));
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(host: Host, rust: &Rust) -> String {
        let component = Component {
            name: "engine".into(),
            version: "1".into(),
            native: "/w/native".into(),
            kind: crate::build::component::Kind::Kernels,
            binaries: vec!["strata".into()],
            library: Some("engine".into()),
            share: Vec::new(),
            kernels: Vec::new(),
            runtime: Vec::new(),
            optional: Vec::new(),
            catalogue: None,
            sources: Vec::new(),
            crates: Vec::new(),
        };
        let workspace = Workspace { root: "/w".into(), version: "1".into(), components: Vec::new() };
        let parent = Parent([("HOME".to_owned(), "/h".to_owned())].into());
        let arguments = arguments(&component, host, rust, Path::new("/w/target/xtask/cargo"));
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        let mut variables = environment(&workspace, host, rust, &parent);
        variables.retain(|name, _| name.starts_with("RUSTC") || name.starts_with("CARGO"));
        let variables =
            variables.iter().map(|(name, value)| format!("\n{name}={}", value.replace('\x1f', " ")));
        format!("{}{}", words.join(" "), variables.collect::<String>())
    }

    #[test]
    fn cargo_builds_in_a_folder_of_its_own_for_the_host_that_is_asked_for() {
        let own = Rust {
            cargo: "cargo".into(),
            rustc: None,
            std_sources: None,
            is_offline: false,
            version: String::new(),
        };
        insta::assert_snapshot!(shown(Host::Linux, &own), @r"
        build --release --locked --color never --target x86_64-unknown-linux-gnu --target-dir /w/target/xtask/cargo --package engine --bin strata --lib
        CARGO_ENCODED_RUSTFLAGS=--remap-path-prefix=/w=/strata --remap-path-prefix=/h/.cargo=/cargo -Clink-arg=-Wl,--enable-new-dtags,-rpath,$ORIGIN/rocm/lib
        ");
        let debian = Rust {
            cargo: "/usr/bin/cargo".into(),
            rustc: Some("/usr/bin/rustc".into()),
            std_sources: Some("/usr/lib/rustlib/src/rust".into()),
            is_offline: true,
            version: String::new(),
        };
        insta::assert_snapshot!(shown(Host::WindowsGnu, &debian), @r"
        build --release --locked --color never --target x86_64-pc-windows-gnu --target-dir /w/target/xtask/cargo --package engine --bin strata --lib --offline -Zbuild-std=std,panic_abort
        CARGO_ENCODED_RUSTFLAGS=--remap-path-prefix=/w=/strata --remap-path-prefix=/h/.cargo=/cargo --remap-path-prefix=/usr/lib/rustlib/src/rust=/rustc -Clink-arg=-Wl,--no-insert-timestamp
        RUSTC=/usr/bin/rustc
        RUSTC_BOOTSTRAP=1
        ");
    }
}
