//! The shared library that cargo built for these tests.

use std::path::PathBuf;

/// Where it lies: beside the test program, or one folder up.
pub(crate) fn library() -> PathBuf {
    let name = format!("{}aiter_kernels{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let test = std::env::current_exe().expect("this program");
    let found = test.ancestors().skip(1).take(2).map(|folder| folder.join(&name)).find(|path| path.is_file());
    found.expect("cargo builds the cdylib with the tests")
}
