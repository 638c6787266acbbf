//! What cargo makes for Windows on this machine, with the Rust that `xtask build --host` would take.

use crate::support::workspace_root;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

pub(crate) const HOST: &str = "x86_64-pc-windows-gnu";
/// Debian's, for a machine whose own Rust has no standard library for Windows.
const SYSTEM_CARGO: &str = "/usr/bin/cargo";
const SYSTEM_RUSTC: &str = "/usr/bin/rustc";

fn sysroot_has(rustc: &str, path: &str) -> bool {
    let output = Command::new(rustc).args(["--print", "sysroot"]).current_dir(workspace_root()).output();
    output.is_ok_and(|output| {
        Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("lib/rustlib").join(path).exists()
    })
}

/// Why nothing can be built, if it cannot.
pub(crate) fn missing() -> Option<String> {
    let is_possible =
        sysroot_has("rustc", HOST) || sysroot_has(SYSTEM_RUSTC, "src/rust/library/std/Cargo.toml");
    (!is_possible).then(|| {
        format!("no Rust on this machine makes programs for {HOST} (`sh prerequisites.sh --windows`)")
    })
}

/// The folder with xtask.exe, strata.exe, strata-device.exe and aiter_kernels.dll.
pub(crate) fn programs() -> &'static Path {
    static PROGRAMS: OnceLock<PathBuf> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let target = workspace_root().join("target").join("wine");
        let mut cargo = match sysroot_has("rustc", HOST) {
            true => Command::new(env!("CARGO")),
            false => {
                let mut cargo = Command::new(SYSTEM_CARGO);
                cargo.env("RUSTC", SYSTEM_RUSTC).env("RUSTC_BOOTSTRAP", "1");
                cargo.arg("-Zbuild-std=std,panic_abort");
                cargo
            }
        };
        let output = cargo
            .args(["build", "--locked", "--quiet", "--profile", "wine", "--target", HOST, "--target-dir"])
            .arg(&target)
            .args(["-p", "xtask", "-p", "engine", "-p", "aiter-kernels", "--bins", "--lib"])
            .current_dir(workspace_root())
            .output()
            .expect("cargo starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        target.join(HOST).join("wine")
    })
}
