//! A whole Windows release that is made on Linux, by xtask as it runs here; Wine runs what is in it. Its kernels are those of the Linux release, which
//! other tests have compiled in the same folder.

use crate::built::HOST;
use crate::models::tiny;
use crate::support::{World, release_name, released, store};
use crate::wine::{command, compile, scratch, text, unzip, windows};
use crate::world::runtime;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const TARGET: &str = "gfx1201";

fn xtask(world: &World, arguments: &[&str], out: &[&Path]) {
    let output = world
        .command(arguments)
        .args(["--toolchain", "lite", "--targets", TARGET, "--host", HOST, "--store"])
        .arg(store())
        .args(out.iter().flat_map(|out| [Path::new("--out"), out]))
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .expect("xtask starts");
    world.ended(output).exits(0);
}

/// The folder of the zip and the wheel.
pub(crate) fn packed() -> &'static PathBuf {
    static PACKED: OnceLock<PathBuf> = OnceLock::new();
    PACKED.get_or_init(|| {
        let world = &released().first;
        let out = world.path("target/windows-release");
        let _ = std::fs::remove_dir_all(&out);
        xtask(world, &["build"], &[]);
        xtask(world, &["dist"], &[&out]);
        out
    })
}

fn name() -> String {
    format!("strata-{}-{HOST}-{TARGET}", env!("CARGO_PKG_VERSION"))
}

/// Unpacked by another program.
fn unpacked() -> &'static PathBuf {
    static UNPACKED: OnceLock<PathBuf> = OnceLock::new();
    UNPACKED.get_or_init(|| unpack("release"))
}

fn unpack(folder: &str) -> PathBuf {
    let out = scratch().join(folder);
    unzip(&packed().join(format!("{}.zip", name())), &out);
    out.join(name())
}

/// A program of the release.
fn run(program: &str, arguments: &[&str], folder: &Path) -> Output {
    let output = command(&unpacked().join(program)).args(arguments).current_dir(folder).output();
    output.expect("Wine starts")
}

pub(crate) fn a_whole_windows_release_is_packed_on_linux() {
    let zip = packed().join(format!("{}.zip", name()));
    released().first.run(&["verify", &zip.display().to_string()]).exits(0);
    for file in [
        "strata.exe",
        "strata-device.exe",
        "strata-vision.exe",
        "aiter_kernels.dll",
        "include/aiter_kernels.h",
    ] {
        assert!(unpacked().join(file).is_file(), "{file}");
    }
    let linux = released().first.path("target/unpacked").join(release_name(TARGET));
    let mut compared = 0;
    for component in ["engine", "aiter-kernels"] {
        let folder = Path::new("kernels").join(TARGET).join(component);
        for entry in std::fs::read_dir(linux.join(&folder)).expect("kernels").flatten() {
            let own =
                std::fs::read(unpacked().join(&folder).join(entry.file_name())).expect("the same kernel");
            assert!(own == std::fs::read(entry.path()).expect("a kernel"), "{:?}", entry.path());
            compared += 1;
        }
    }
    assert!(compared >= 15, "{compared} code objects");
}

pub(crate) fn the_self_test_of_the_windows_release_runs() {
    let without = run("strata-device.exe", &["--selftest"], unpacked());
    assert_eq!(without.status.code(), Some(6), "no runtime: {}", text(&without));
    let elsewhere = run("strata-device.exe", &["--selftest"], runtime());
    assert_eq!(
        elsewhere.status.code(),
        Some(6),
        "one of the current folder is not taken: {}",
        text(&elsewhere)
    );
    let beside = unpack("release-with-runtime");
    let library = "amdhip64_7.dll";
    std::fs::copy(runtime().join(library), beside.join(library)).expect("copy");
    let with = command(&beside.join("strata-device.exe")).arg("--selftest").output().expect("Wine starts");
    assert_eq!(with.status.code(), Some(0), "{}", text(&with));
    assert!(text(&with).contains("AMD Radeon RX 9070 XT"), "{}", text(&with));
}

pub(crate) fn a_model_generates_the_text_that_it_does_on_linux() {
    let model = scratch().join("tiny.gguf");
    std::fs::write(&model, tiny().bytes()).expect("a model");
    let arguments = ["--prompt", "hello", "-n", "40", "--temperature", "0", "--ignore-end", "--json"];
    let printed = |output: Output| {
        assert!(output.status.success(), "{}", text(&output));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
        assert_eq!(json["generated_tokens"], 40);
        json["text"].as_str().expect("text").to_owned()
    };
    let path = windows(&model);
    let own = run("strata.exe", &[&["generate", &path], &arguments[..]].concat(), unpacked());
    let linux = released().unpacked.iter().find(|(target, _)| target == TARGET).expect("the release");
    let linux = Command::new(linux.1.join("strata")).arg("generate").arg(&model).args(arguments).output();
    assert_eq!(printed(own), printed(linux.expect("strata starts")));
    let vision = run("strata-vision.exe", &["--version"], unpacked());
    assert!(vision.status.success() && text(&vision).starts_with("strata-vision "), "{}", text(&vision));
}

pub(crate) fn a_c_program_calls_the_library_of_the_release() {
    let program = scratch().join("operations.exe");
    let include = format!("-I{}", unpacked().join("include").display());
    let library = unpacked().join("aiter_kernels.dll").display().to_string();
    let source = include_str!("../../../aiter-kernels/tests/c_abi_operations.c");
    compile(source, &[&include, &library], &program);
    let output = command(&program).current_dir(unpacked()).output().expect("Wine starts");
    assert!(output.status.success() && text(&output).trim() == "ok", "{}", text(&output));
}
