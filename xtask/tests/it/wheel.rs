//! The wheel of the release: installed by pip in a fresh environment, used from Python, and its launches against a stub of the HIP runtime.

use crate::support::{TARGETS, released, sha256, workspace_root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

#[path = "../../../aiter-kernels/tests/support/python.rs"]
mod python;
#[path = "../../../crates/hip/tests/stub/mod.rs"]
mod stub;

fn wheel(root: &Path) -> PathBuf {
    let start = format!("aiter_kernels-{}-py3-none-manylinux_2_", env!("CARGO_PKG_VERSION"));
    let entries = std::fs::read_dir(root.join("dist")).expect("dist");
    let mut paths = entries.map(|entry| entry.expect("an entry").path());
    let is_wheel = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&start));
    paths.find(is_wheel).expect("the wheel, which says which glibc it asks for")
}

/// Python of a fresh environment that holds the wheel and nothing else.
fn installed() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let folder = workspace_root().join("target/wheel-test");
        let _ = std::fs::remove_dir_all(&folder);
        let program = folder.join("bin/python3");
        // Without pip of its own, which not every python3 brings along: the machine's installs into it.
        let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&folder).output();
        let made = made.expect("python3 starts");
        assert!(made.status.success(), "venv: {}", String::from_utf8_lossy(&made.stderr));
        let pip = Command::new("python3")
            .args(["-m", "pip", "--python"])
            .arg(&program)
            .args(["install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"])
            .arg(wheel(released().first.root()))
            .output()
            .expect("pip starts");
        assert!(pip.status.success(), "pip: {}", String::from_utf8_lossy(&pip.stderr));
        program
    })
}

/// Runs a script of aiter-kernels with the wheel, away from the sources.
fn run(script: &str, environment: &[(&str, &Path)]) -> String {
    let mut command = Command::new(installed());
    command
        .arg(workspace_root().join("aiter-kernels/tests").join(script))
        .current_dir(installed().parent().expect("a folder"))
        .env("PYTHONPATH", python::packages(&workspace_root().join("target")))
        .envs(environment.iter().copied());
    python::run(&mut command)
}

#[test]
fn two_folders_give_the_same_wheel() {
    let (first, second) = (&released().first, &released().second);
    let bytes = std::fs::read(wheel(first.root())).expect("the first");
    assert!(bytes == std::fs::read(wheel(second.root())).expect("the second"));
    let sums = std::fs::read_to_string(first.root().join("dist/SHA256SUMS")).expect("sums");
    assert!(sums.contains(&format!("{}  aiter_kernels-", sha256(&bytes))), "{sums}");
}

#[test]
fn the_wheel_is_installed_and_gives_the_numbers_of_the_formulas() {
    assert_eq!(run("package.py", &[]), "ok\n");
}

#[test]
fn calls_on_a_gpu_launch_the_kernels_of_the_wheel() {
    let stub = stub::folder(Path::new(env!("CARGO_TARGET_TMPDIR")));
    for (target, _) in TARGETS {
        let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("launches-{target}"));
        let _ = std::fs::remove_file(&log);
        let device = format!("{target}|a card|16|32|0|32");
        let environment: [(&str, &Path); 3] = [
            ("LD_LIBRARY_PATH", stub),
            ("STRATA_STUB_LAUNCHES", &log),
            ("STRATA_STUB_DEVICES", Path::new(&device)),
        ];
        assert_eq!(run("launches.py", &environment), "ok\n", "{target}");
    }
}

#[test]
fn a_card_without_code_and_a_machine_without_a_runtime_are_told() {
    let stub = stub::folder(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let device = Path::new("gfx1151|a card|16|20|1|32");
    let said = run("launches.py", &[("LD_LIBRARY_PATH", stub), ("STRATA_STUB_DEVICES", device)]);
    assert!(said.contains("there is no code for gfx1151; build it with"), "{said}");
    let device = Path::new("gfx1201|a card|16|20|1|32");
    let wrong = [("LD_LIBRARY_PATH", stub), ("STRATA_STUB_DEVICES", device), ("CU_NUM", Path::new("many"))];
    let said = run("launches.py", &wrong);
    assert!(said.contains("CU_NUM: expected a number"), "{said}");
    let said = run("launches.py", &[("LD_LIBRARY_PATH", Path::new("/nowhere"))]);
    assert!(said.starts_with("failed to load the HIP runtime; tried `libamdhip64.so.7`"), "{said}");
}
