//! The wheel for Windows, made on Linux: CPython for Windows imports it and calls its aiter_kernels.dll.

use crate::pip::python;
use crate::release::packed;
use crate::wine::{command, scratch, text, unzip, windows};
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn wheel() -> PathBuf {
    let name = format!("aiter_kernels-{}-py3-none-win_amd64.whl", env!("CARGO_PKG_VERSION"));
    packed().join(name)
}

pub(crate) fn python_for_windows_calls_the_wheel() {
    let packages = scratch().join("site-packages");
    unzip(&wheel(), &packages);
    assert!(packages.join("aiter_kernels/aiter_kernels.dll").is_file());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wine/wheel.py");
    let mut command = command(&python());
    // It refuses to start without standard streams that it can ask.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.arg(windows(&script)).arg(windows(&packages)).output().expect("Wine starts");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).replace('\r', ""), "ok\n", "{}", text(&output));
}
