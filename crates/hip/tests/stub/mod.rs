//! Builds the stub runtime with the machine's C compiler. Other crates' tests include this file by path.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder that holds `libamdhip64.so.7`, or `None` (and the reason printed) where it cannot be built.
pub(crate) fn folder(scratch: &Path) -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(|| build(scratch).map_err(|reason| println!("skipped: {reason}")).ok()).as_deref()
}

fn build(scratch: &Path) -> Result<PathBuf, String> {
    if cfg!(windows) {
        return Err("the stub runtime is a Linux library".into());
    }
    // Test programs run beside each other: each builds its own.
    let folder = scratch.join(format!("stub-{}", std::process::id()));
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("failed to create `{}`: {error}", folder.display()))?;
    let source = folder.join("amdhip64.c");
    std::fs::write(&source, include_str!("amdhip64.c"))
        .map_err(|error| format!("failed to write `{}`: {error}", source.display()))?;
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"])
        .args(["-fvisibility=hidden", "-Wl,-soname,libamdhip64.so.7", "-o"])
        .args([&folder.join("libamdhip64.so.7"), &source])
        .arg("-lm")
        .output();
    match built {
        Err(error) => Err(format!("there is no C compiler `cc`: {error}")),
        Ok(output) if !output.status.success() => {
            panic!("the stub runtime does not compile: {}", String::from_utf8_lossy(&output.stderr))
        }
        Ok(_) => Ok(folder),
    }
}
