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
    compile(&folder, "libamdhip64.so.7", include_str!("amdhip64.c"))?;
    Ok(folder)
}

/// hipBLASLt beside the runtime: only for the tests that ask for it.
#[allow(dead_code)] // Not every crate's tests do.
pub(crate) fn with_blas_lt(folder: &Path) -> Result<(), String> {
    compile(folder, "libhipblaslt.so.1", include_str!("hipblaslt.c"))
}

/// Builds one library from its source.
fn compile(folder: &Path, soname: &str, text: &str) -> Result<(), String> {
    let source = folder.join(format!("{soname}.c"));
    std::fs::write(&source, text)
        .map_err(|error| format!("failed to write `{}`: {error}", source.display()))?;
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O2", "-pthread", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"])
        .args(["-fvisibility=hidden", &format!("-Wl,-soname,{soname}"), "-o"])
        .args([&folder.join(soname), &source])
        .args(["-lm", "-ldl"])
        .output();
    match built {
        Err(error) => Err(format!("there is no C compiler `cc`: {error}")),
        Ok(output) if !output.status.success() => {
            panic!("the stub runtime does not compile: {}", String::from_utf8_lossy(&output.stderr))
        }
        Ok(_) => Ok(()),
    }
}
