//! Builds the stub runtime with the machine's C compiler. Other crates' tests include this file by path.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder that holds `libamdhip64.so.7`. Where cargo links programs there is a C compiler.
pub(crate) fn folder(scratch: &Path) -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // Test programs run beside each other: each builds its own.
        let folder = scratch.join(format!("stub-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the stub");
        compile(&folder, "libamdhip64.so.7", include_str!("amdhip64.c"));
        folder
    })
}

/// hipBLASLt beside the runtime: only for the tests that ask for it.
#[allow(dead_code)] // Not every crate's tests do.
pub(crate) fn with_blas_lt(folder: &Path) {
    compile(folder, "libhipblaslt.so.1", include_str!("hipblaslt.c"));
}

/// Builds one library from its source.
fn compile(folder: &Path, soname: &str, text: &str) {
    let source = folder.join(format!("{soname}.c"));
    std::fs::write(&source, text).expect("the source of the stub");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O2", "-pthread", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"])
        .args(["-fvisibility=hidden", &format!("-Wl,-soname,{soname}"), "-o"])
        .args([&folder.join(soname), &source])
        .args(["-lm", "-ldl"])
        .output()
        .expect("the C compiler `cc`, which cargo links with too");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "the stub runtime does not compile: {said}");
}
