//! The C interface as C and C++ see it: the header is what cbindgen writes, and the programs of docs/interfaces.md are compiled and run.

#[path = "support/docs.rs"]
mod docs;
#[path = "support/library.rs"]
mod library;

use docs::blocks;
use library::library;
use std::path::{Path, PathBuf};
use std::process::Command;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_header_is_what_cbindgen_writes() {
    let config = cbindgen::Config::from_file(package().join("cbindgen.toml")).expect("cbindgen.toml");
    let sources = ["attention", "cache", "kernels", "row_wise", "status", "tensor"];
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in sources {
        builder = builder.with_src(package().join(format!("src/c_abi/{source}.rs")));
    }
    let mut fresh = Vec::new();
    builder.generate().expect("the sources parse").write(&mut fresh);
    let fresh = String::from_utf8(fresh).expect("UTF-8");
    let path = package().join("include/aiter_kernels.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &fresh).expect("the header is written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == fresh, "the header is old: UPDATE_HEADER=1 cargo test -p aiter-kernels --test c_abi");
}

/// Compiles a program against the header and the library, warnings being errors, and gives what it prints.
fn run(compiler: &str, standard: &str, name: &str, text: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("c_abi");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (source, program) = (folder.join(name), folder.join(name).with_extension(""));
    std::fs::write(&source, text).expect("the source is written");
    let library = library();
    let built = Command::new(compiler)
        .args([standard, "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(package().join("include"))
        .arg(&source)
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.parent().expect("a folder").display()))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("the compiler starts");
    assert!(built.status.success(), "{name}:\n{}", String::from_utf8_lossy(&built.stderr));
    let output = Command::new(&program).output().expect("the program starts");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The first program in this language, and what the page says that it prints.
fn example(language: &str) -> (String, String) {
    let blocks = blocks();
    let at = blocks.iter().position(|block| block.language == language).expect("an example");
    let prints = &blocks[at + 1];
    assert_eq!(prints.language, "text", "what the example prints comes after it");
    (blocks[at].text.clone(), prints.text.clone())
}

#[test]
#[cfg(target_os = "linux")]
fn the_c_example_runs() {
    let (program, prints) = example("c");
    assert_eq!(run("cc", "-std=c11", "example_c.c", &program), prints);
}

#[test]
#[cfg(target_os = "linux")]
fn the_cpp_example_runs() {
    let (program, prints) = example("cpp");
    assert_eq!(run("c++", "-std=c++17", "example_cpp.cpp", &program), prints);
}

#[test]
#[cfg(target_os = "linux")]
fn every_operation_can_be_called_from_c() {
    let program = include_str!("c_abi_operations.c");
    assert_eq!(run("cc", "-std=c11", "operations.c", program), "ok\n");
}
