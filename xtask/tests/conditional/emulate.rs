//! The kernels of the release, run on the CPU by an interpreter of their machine code and compared with the CPU references in Rust.
//!
//! The interpreter is `rdna_emu.py` in RDNA_EMU_DIR (default: `../shared/tools` beside the workspace); without it the check is skipped.

use crate::support::{released, store, workspace_root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the scripts need.
struct Interpreter {
    llvm: PathBuf,
    libraries: String,
    numpy: PathBuf,
    emulator: PathBuf,
}

impl Interpreter {
    fn find() -> Self {
        let tree = tree_of("llvm");
        let libraries = [tree.join("usr/lib/x86_64-linux-gnu"), tree.join("usr/lib/llvm-22/lib")];
        let libraries = libraries.map(|folder| folder.display().to_string()).join(":");
        Self { llvm: tree.join("usr/lib/llvm-22/bin"), libraries, numpy: numpy(), emulator: emulator() }
    }

    /// Runs a script of the workspace and gives what it printed.
    fn run(&self, script: &str, arguments: &[&Path]) -> String {
        let output = Command::new("python3")
            .arg(workspace_root().join(script))
            .args(arguments)
            .env("PYTHONPATH", &self.numpy)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("RDNA_EMU_DIR", &self.emulator)
            .env("LLVM_BIN", &self.llvm)
            .env("LD_LIBRARY_PATH", &self.libraries)
            .output()
            .expect("python3 starts");
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{script}:\n{text}");
        text
    }
}

fn emulator() -> PathBuf {
    std::env::var_os("RDNA_EMU_DIR").map_or_else(|| workspace_root().join("../shared/tools"), PathBuf::from)
}

/// numpy in a folder of the target directory, through the machine's pip.
fn numpy() -> PathBuf {
    let folder = workspace_root().join("target/numpy");
    let has_it = || {
        let import = Command::new("python3").args(["-c", "import numpy"]).env("PYTHONPATH", &folder).output();
        import.is_ok_and(|output| output.status.success())
    };
    if !has_it() {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"];
        let output = Command::new("python3").args(pip).arg(&folder).arg("numpy>=1.24,<3").output();
        let output = output.expect("python3 starts");
        assert!(has_it(), "no numpy: {}", String::from_utf8_lossy(&output.stderr));
    }
    folder
}

fn tree_of(package: &str) -> PathBuf {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["--quiet", "--format", "json", "bootstrap", "--toolchain", "lite", "--store"])
        .arg(store())
        .current_dir(workspace_root())
        .output()
        .expect("xtask starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut events = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let result = events.rfind(|event| event["event"] == "result").expect("a result");
    let packages = result["result"]["packages"].as_array().expect("packages").clone();
    let found = packages.iter().find(|found| found["name"] == package).expect(package);
    PathBuf::from(found["tree"].as_str().expect("a path"))
}

/// The program that computes what the scripts compare with.
fn reference() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--package",
            "aiter-kernels",
            "--example",
            "reference",
            "--message-format",
            "json",
        ])
        .current_dir(workspace_root())
        .output()
        .expect("cargo starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let text = String::from_utf8_lossy(&built.stdout).into_owned();
    let messages = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let executables = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    let executable = executables.collect::<Vec<_>>().pop();
    executable.expect("an executable")
}

/// Why the check cannot run here, if it cannot.
pub(crate) fn missing() -> Option<String> {
    let folder = emulator();
    let is_there = folder.join("rdna_emu.py").is_file();
    (!is_there).then(|| format!("no rdna_emu.py in {} (RDNA_EMU_DIR)", folder.display()))
}

const AITER: [&str; 7] = [
    "emulate_activation.py",
    "emulate_attention.py",
    "emulate_decode.py",
    "emulate_norm.py",
    "emulate_paged.py",
    "emulate_quantise.py",
    "emulate_rope.py",
];

/// The kernels of the release against their references, both targets side by side.
pub(crate) fn shipped_kernels_give_the_references_numbers() {
    let (interpreter, reference) = (&Interpreter::find(), &reference());
    std::thread::scope(|scope| {
        for (target, folder) in &released().unpacked {
            scope.spawn(move || {
                let kernels = folder.join("kernels").join(target);
                let (aiter, target) = (kernels.join("aiter-kernels"), Path::new(target));
                for script in AITER {
                    let script = format!("aiter-kernels/tests/{script}");
                    print!(
                        "{}",
                        interpreter.run(&script, &[&aiter, target, Path::new("--reference"), reference])
                    );
                }
                let rms_norm = kernels.join("engine/rms_norm.co");
                print!("{}", interpreter.run("engine/tests/emulate_rms_norm.py", &[&rms_norm, target]));
            });
        }
    });
}
