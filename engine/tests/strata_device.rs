//! The program as a process: with the stub runtime, with none, with releases that are broken.
#![cfg(target_os = "linux")] // The stub is a Linux library.

#[path = "../../crates/hip/tests/stub/mod.rs"]
mod stub;

#[path = "it/support/no_runtime.rs"]
mod no_runtime;

use no_runtime::no_runtime;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const GFX1100: &[u8] = include_bytes!("data/gfx1100/rms_norm.co");
const GFX1201: &[u8] = include_bytes!("data/gfx1201/rms_norm.co");
const SMALL: &[u8] = include_bytes!("../../crates/code-object/tests/data/gfx1201.co");

/// What one run gave. Folders are replaced by names, so that snapshots hold on every machine.
struct Run {
    code: i32,
    out: String,
    talk: String,
}

/// A release: code objects by `<target>/<component>/<name>.co`.
fn release(objects: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, bytes) in objects {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
    folder
}

/// The other code objects of the engine.
const REST: [(&str, &[u8]); 3] = [
    ("gfx1201/engine/matrix.co", include_bytes!("data/gfx1201/matrix.co")),
    ("gfx1201/engine/rows.co", include_bytes!("data/gfx1201/rows.co")),
    ("gfx1201/engine/vector.co", include_bytes!("data/gfx1201/vector.co")),
];

fn good_release() -> TempDir {
    release(&[&REST[..], &[("gfx1201/engine/rms_norm.co", GFX1201)]].concat())
}

fn stub() -> &'static Path {
    stub::folder(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

fn run(runtime: &Path, kernels: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
    run_program(Path::new(env!("CARGO_BIN_EXE_strata-device")), runtime, kernels, arguments, environment)
}

fn run_program(
    program: &Path,
    runtime: &Path,
    kernels: &Path,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Run {
    let output = Command::new(program)
        .args(arguments)
        .arg("--kernels")
        .arg(kernels)
        .env_clear()
        .env("LD_LIBRARY_PATH", runtime)
        .envs(environment.iter().copied())
        .output()
        .expect("strata-device starts");
    let plain = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).expect("UTF-8");
        let name = |folder: &Path| folder.display().to_string();
        text.replace(&name(runtime), "RUNTIME").replace(&name(kernels), "KERNELS")
    };
    Run {
        code: output.status.code().expect("an exit code"),
        out: plain(output.stdout),
        talk: plain(output.stderr),
    }
}

const CARDS: &str = "gfx1036|AMD Radeon(TM) Graphics|12.2|1|1|32;gfx1030:sramecc-:xnack-|AMD Radeon RX 6800 XT|15.98|36|0|32;\
                     gfx906:sramecc+:xnack-|AMD Radeon VII|16|60|0|64;gfx1201|AMD Radeon RX 9070 XT|15.92|32|0|32";

#[test]
fn devices_are_listed_with_what_keeps_them_from_running() {
    let stub = stub();
    let run = run(stub, good_release().path(), &["--list-devices"], &[("STRATA_STUB_DEVICES", CARDS)]);
    assert_eq!((run.code, run.talk.as_str()), (0, ""));
    insta::assert_snapshot!(run.out);
}

#[test]
fn a_list_of_no_devices_is_a_list() {
    let stub = stub();
    let run = run(stub, good_release().path(), &["--list-devices"], &[("STRATA_STUB_DEVICES", "")]);
    assert_eq!((run.code, run.out.as_str(), run.talk.as_str()), (0, "(no GPU device)\n", ""));
}

#[test]
fn the_selftest_computes_on_the_device() {
    let stub = stub();
    let run = run(stub, good_release().path(), &["--selftest"], &[]);
    assert_eq!((run.code, run.talk.as_str()), (0, ""), "{}", run.out);
    insta::assert_snapshot!(run.out);
}

#[test]
fn the_selftest_as_json() {
    let stub = stub();
    let run = run(stub, good_release().path(), &["--selftest", "--json"], &[]);
    assert_eq!((run.code, run.talk.as_str()), (0, ""));
    insta::assert_snapshot!(run.out);
}

/// hipBLASLt beside the runtime: it multiplies too, and is among the libraries that are loaded.
#[test]
fn hipblaslt_multiplies_where_it_is() {
    let stub = stub();
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(stub.join("libamdhip64.so.7"), folder.path().join("libamdhip64.so.7")).expect("a copy");
    stub::with_blas_lt(folder.path());
    let run = run(folder.path(), good_release().path(), &["--selftest"], &[]);
    assert_eq!((run.code, run.talk.as_str()), (0, ""), "{}", run.out);
    let check = "hipBLASLt product on the device: version 100203, 77x544 by 544x200, f16, largest error";
    assert!(run.out.contains(check) && run.out.contains("  loaded RUNTIME/libhipblaslt.so.1"), "{}", run.out);
    assert!(run.out.ends_with("strata-device selftest OK\n"), "{}", run.out);
}

/// A release whose hipBLASLt is no library: it is not passed over.
#[test]
fn a_broken_hipblaslt_fails_the_selftest() {
    let stub = stub();
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("strata-device");
    std::fs::copy(env!("CARGO_BIN_EXE_strata-device"), &program).expect("a copy");
    let libraries = folder.path().join("rocm/lib");
    std::fs::create_dir_all(&libraries).expect("a folder");
    std::fs::write(libraries.join("libhipblaslt.so.1"), "no library").expect("a file");
    let run = run_program(&program, stub, good_release().path(), &["--selftest"], &[]);
    assert_eq!(run.code, 1, "{}", run.out);
    let said = "libhipblaslt.so.1` is there and cannot be used: file too short";
    assert!(run.talk.contains(said) && !run.out.contains("selftest OK"), "{}", run.talk);
}

#[test]
fn a_first_query_that_fails_is_asked_again() {
    let stub = stub();
    let run = run(stub, good_release().path(), &["--selftest"], &[("STRATA_STUB_FLAKY", "1")]);
    assert_eq!(run.code, 0, "{}", run.out);
}

#[test]
fn wrong_numbers_are_found() {
    let stub = stub();
    let run = run(stub, good_release().path(), &["--selftest"], &[("STRATA_STUB_WRONG", "1")]);
    assert_eq!(run.code, 1);
    assert!(!run.out.contains("selftest OK"), "{}", run.out);
    assert!(run.talk.starts_with("strata-device: rms_norm on the device: f32, 3x1: off by"), "{}", run.talk);
}

#[test]
fn a_plan_that_does_not_fit_fails() {
    let stub = stub();
    for mode in [&[][..], &["--selftest"]] {
        let run = run(stub, good_release().path(), mode, &[("STRATA_STUB_FREE_MIB", "2000")]);
        assert_eq!(run.code, 1);
        assert!(run.out.contains("\nplan + KV vs free   *** DOES NOT FIT ***\n"), "{}", run.out);
        assert!(run.talk.contains("plan against free memory: does not fit: "), "{}", run.talk);
    }
}

#[test]
fn the_plan_ends_the_default_report() {
    let stub = stub();
    let run = run(stub, good_release().path(), &[], &[]);
    assert_eq!(run.code, 0);
    assert!(run.out.ends_with("plan + KV vs free   FITS\n"), "{}", run.out);
}

#[test]
fn a_card_without_code_is_told_what_there_is_code_for() {
    let stub = stub();
    let kernels = release(&[("gfx1100/engine/rms_norm.co", GFX1100)]);
    let run = run(stub, kernels.path(), &["--selftest"], &[]);
    assert_eq!(run.code, 1);
    insta::assert_snapshot!(run.talk);
}

#[test]
fn the_loaded_runtime_can_be_insisted_on() {
    let stub = stub();
    let kernels = good_release();
    let here = stub.display().to_string();
    let good = run(stub, kernels.path(), &["--selftest", "--expect-loaded", &here], &[]);
    assert_eq!(good.code, 0, "{}", good.out);
    assert!(good.out.contains("\nchecked  loaded runtime: RUNTIME/libamdhip64.so.7\n"), "{}", good.out);
    let bad = run(stub, kernels.path(), &["--selftest", "--expect-loaded", "/usr/share"], &[]);
    assert_eq!(bad.code, 1);
    let said = "strata-device: loaded runtime: `RUNTIME/libamdhip64.so.7` does not lie in `/usr/share`\n";
    assert_eq!(bad.talk, said);
}

#[test]
fn without_a_runtime_the_rest_is_checked() {
    let (runtime, kernels) = (no_runtime(), good_release());
    let run = run(runtime.path(), kernels.path(), &["--selftest"], &[]);
    assert_eq!((run.code, run.out.lines().count()), (6, 5));
    assert!(!run.out.contains("OK"), "{}", run.out);
    insta::assert_snapshot!(run.out);
}

#[test]
fn without_a_runtime_as_json() {
    let (runtime, kernels) = (no_runtime(), good_release());
    let run = run(runtime.path(), kernels.path(), &["--selftest", "--json"], &[]);
    assert_eq!((run.code, run.talk.as_str()), (6, ""));
    insta::assert_snapshot!(run.out);
}

#[test]
fn without_a_runtime_nothing_is_listed() {
    let (runtime, kernels) = (no_runtime(), good_release());
    let run = run(runtime.path(), kernels.path(), &["--list-devices"], &[]);
    assert_eq!((run.code, run.out.as_str()), (6, "(no GPU device)\n"));
    assert!(run.talk.starts_with("strata-device: failed to load the HIP runtime; tried "), "{}", run.talk);
}

#[test]
fn without_a_device_it_is_as_without_a_runtime() {
    let stub = stub();
    let run = run(stub, good_release().path(), &["--selftest"], &[("STRATA_STUB_DEVICES", "")]);
    assert_eq!((run.code, run.out.lines().count()), (6, 5));
    assert!(run.out.starts_with("no GPU is used: "), "{}", run.out);
}

#[test]
fn broken_releases_fail_without_a_gpu() {
    let runtime = no_runtime();
    let no_object: &[u8] = b"not an object";
    let said: Vec<String> = [
        &[][..],
        &[("gfx1201/engine/rms_norm.co", no_object)],
        &[("gfx1100/engine/rms_norm.co", GFX1201)],
        &[("gfx1201/engine/rms_norm.co", SMALL)],
        &[("gfx1201/engine/rms_norm.co", GFX1201), ("gfx1100/aiter-kernels/other.co", GFX1100)],
        &[("gfx1210/engine/rms_norm.co", GFX1201)],
    ]
    .into_iter()
    .map(|objects: &[(&str, &[u8])]| {
        let run = run(runtime.path(), release(objects).path(), &["--selftest"], &[]);
        assert_eq!(run.code, 1, "{}", run.out);
        run.talk
    })
    .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_missing_folder_is_named() {
    let (runtime, nowhere) = (no_runtime(), PathBuf::from("/nowhere/kernels"));
    let run = run(runtime.path(), &nowhere, &["--selftest"], &[]);
    assert_eq!(run.code, 1);
    assert!(
        run.talk.starts_with("strata-device: code objects: failed to read `KERNELS`: No such file"),
        "{}",
        run.talk
    );
}

#[test]
fn usage() {
    let (runtime, kernels) = (no_runtime(), good_release());
    let code = |arguments: &[&str]| run(runtime.path(), kernels.path(), arguments, &[]).code;
    assert_eq!(code(&["--unknown"]), 2);
    assert_eq!(code(&["--list-devices", "--selftest"]), 2);
    assert_eq!(code(&["--help"]), 0);
    let version = run(runtime.path(), kernels.path(), &["--version"], &[]);
    assert_eq!(version.out, format!("strata-device {}\n", env!("CARGO_PKG_VERSION")));
}
