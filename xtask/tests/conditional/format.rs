//! The code as rustfmt writes it.

use crate::support::workspace_root;
use std::process::Command;

fn fmt(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO"))
        .arg("fmt")
        .args(arguments)
        .current_dir(workspace_root())
        .output()
        .expect("cargo starts")
}

/// Why the check cannot run here, if it cannot.
pub(crate) fn missing() -> Option<String> {
    (!fmt(&["--version"]).status.success()).then(|| "this Rust toolchain has no rustfmt".to_owned())
}

/// Every crate of the workspace.
pub(crate) fn the_code_is_formatted() {
    let output = fmt(&["--all", "--check"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
