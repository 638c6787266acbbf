//! Python with the packages that scripts compare with, pinned. xtask's tests include this file by path.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Each has wheels for Python 3.10 to 3.13.
const PINS: [&str; 3] = ["numpy==2.2.6", "scipy==1.15.3", "ml_dtypes==0.5.3"];

/// A folder for PYTHONPATH that holds the pinned packages, made below `target` through the machine's pip where it is missing. Its name says what is
/// in it, so that a new pin is a new folder, and it gets this name when it is whole.
pub(crate) fn packages(target: &Path) -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| install(target))
}

fn install(target: &Path) -> PathBuf {
    let folder = target.join(format!("python-{}", PINS.join("-").replace("==", "-")));
    if !folder.is_dir() {
        let unfinished = folder.with_extension(std::process::id().to_string());
        let pip =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
        let output = Command::new("python3").args(pip).arg("--target").arg(&unfinished).args(PINS).output();
        let output = output.expect("python3 starts");
        assert!(output.status.success(), "pip: {}", String::from_utf8_lossy(&output.stderr));
        if std::fs::rename(&unfinished, &folder).is_err() {
            // Another test program was faster.
            std::fs::remove_dir_all(&unfinished).expect("the folder is removed");
        }
    }
    folder
}

/// Runs Python and gives what it prints.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().expect("python3 starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{said}");
    print!("{said}");
    printed
}
