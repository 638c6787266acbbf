//! A real cargo.exe with a stand-in for rustc.exe, which hands over programs that the real one made on Linux.

use crate::built::{HOST, programs};
use crate::wine::{compile, run, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Their folder.
pub(crate) fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = scratch().join("cargo");
        std::fs::create_dir_all(folder.join("programs")).expect("folder");
        std::fs::copy(crate::pip::cargo(), folder.join("cargo.exe")).expect("copy");
        let program = "strata-device.exe";
        std::fs::copy(programs().join(program), folder.join("programs").join(program)).expect("copy");
        compile(include_str!("rustc.c"), &[], &folder.join("rustc.exe"));
        tell(&folder);
        folder
    })
}

/// Writes down what rustc says of itself and of its target when cargo asks.
fn tell(folder: &Path) {
    let say = |name: &str, text: String| std::fs::write(folder.join(name), text).expect("write");
    let own = run(Command::new("rustc").arg("-vV"));
    let host = own.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    say("version.txt", own.replace(host, HOST));
    let kinds = ["bin", "rlib", "dylib", "cdylib", "staticlib", "proc-macro"];
    let kinds = kinds.iter().flat_map(|kind| ["--crate-type", kind]);
    let asked = ["file-names", "sysroot", "split-debuginfo", "crate-name", "cfg"];
    let mut rustc = Command::new("rustc");
    rustc.args(["-", "--crate-name", "___", "--target", HOST]).args(kinds);
    rustc.args(asked.map(|what| format!("--print={what}"))).stdin(std::process::Stdio::null());
    say("target.txt", run(&mut rustc));
}
