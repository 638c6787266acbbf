//! The Python package from the sources, with the library that cargo built: every function against numpy's and scipy's formulas, and the examples of
//! docs/interfaces.md. The installed wheel is tested with the release (xtask/tests/it/wheel.rs).

#[path = "support/docs.rs"]
mod docs;
#[path = "support/library.rs"]
mod library;
#[path = "support/python.rs"]
mod python;

use std::path::Path;
use std::process::Command;

fn python() -> Command {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packages = python::packages(&package.join("../target"));
    let path = std::env::join_paths([packages, &package.join("python")]).expect("paths");
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", path).env("AITER_KERNELS_LIBRARY", library::library());
    command
}

#[test]
fn the_package_gives_the_numbers_of_the_formulas() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/package.py");
    assert_eq!(python::run(python().arg(script)), "ok\n");
}

#[test]
fn the_python_example_runs() {
    let blocks = docs::blocks();
    let at = blocks.iter().position(|block| block.language == "python").expect("an example");
    assert_eq!(python::run(python().args(["-c", &blocks[at].text])), blocks[at + 1].text);
}
