//! Python packages for the comparisons, pinned, in a folder of the target directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

/// Packages that are installed together, and the module that shows that they are there.
pub(crate) struct Packages {
    name: &'static str,
    pins: &'static [&'static str],
    modules: &'static str,
}

/// llama.cpp with its own kernels, and what writes models and images.
pub(crate) const LLAMA_CPP: Packages = Packages {
    name: "llama_cpp",
    pins: &["gguf==0.19.0", "cyllama==0.2.18", "numpy>=1.24,<3", "pillow==13.0.0"],
    modules: "import gguf, cyllama.llama.llama_cpp, PIL",
};

/// Hugging Face's tokenizers, and what writes their vocabulary as GGUF.
pub(crate) const TOKENIZERS: Packages = Packages {
    name: "tokenizers",
    pins: &["gguf==0.19.0", "tokenizers==0.23.3", "numpy>=1.24,<3"],
    modules: "import gguf, tokenizers",
};

/// OpenAI's client.
pub(crate) const OPENAI: Packages =
    Packages { name: "openai", pins: &["openai==3.51.0"], modules: "import openai" };

fn folder(packages: &Packages) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
    target.join("engine-python").join(packages.name)
}

/// A script of this folder, with these packages.
pub(crate) fn script(packages: &Packages, script: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rivals").join(script));
    with(packages, &mut command);
    command
}

fn with(packages: &Packages, command: &mut Command) {
    command.env("PYTHONPATH", folder(packages)).env("PYTHONDONTWRITEBYTECODE", "1");
}

/// Runs it, and gives what it wrote.
pub(crate) fn output(command: &mut Command) -> String {
    let output = command.output().expect("python3 starts");
    assert!(output.status.success(), "{command:?}:\n{}", said(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Why the packages are not there, if they are not; else they are.
pub(crate) fn missing(packages: &Packages) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<&str, Option<String>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().expect("no panic");
    known.entry(packages.name).or_insert_with(|| install(packages)).clone()
}

fn install(packages: &Packages) -> Option<String> {
    let is_there = || {
        let mut command = Command::new("python3");
        command.args(["-c", packages.modules]);
        with(packages, &mut command);
        command.output().is_ok_and(|output| output.status.success())
    };
    if is_there() {
        return None;
    }
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
        "--target",
    ];
    let output = Command::new("python3").args(pip).arg(folder(packages)).args(packages.pins).output();
    let why = match &output {
        Ok(output) => said(output).lines().last().unwrap_or("pip says nothing").to_owned(),
        Err(error) => error.to_string(),
    };
    (!is_there()).then(|| format!("no {}: {why}", packages.pins.join(" ")))
}
