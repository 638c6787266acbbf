//! The engine's speed against llama.cpp's (cyllama's wheel): the same file, threads and machine, one after the other.
//!
//! `cargo run --release --package bench --bin engine -- [TYPE]… [--threads N]`, after `cargo build --release --package engine --bin strata`.
//! It needs python3 with pip. The model is random, of Qwen3-0.6B's shape with a smaller vocabulary. Tokens a second of processor time are printed beside those of
//! wall time, since they hold on a machine that does other things too.

use bench::measure;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROMPT: &str = "128";
const GENERATE: &str = "16";

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let threads = match arguments.iter().position(|argument| argument == "--threads") {
        Some(at) => arguments.drain(at..).nth(1).expect("a number"),
        None => "1".to_owned(),
    };
    if arguments.is_empty() {
        let all = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL"];
        arguments = all.map(str::to_owned).to_vec();
    }
    let python = packages();
    println!("{:<8}{:>28}{:>28}", "", "prompt, tokens/cpu s (wall)", "decode, tokens/cpu s (wall)");
    for kind in arguments {
        let model = target().join(format!("engine-bench-{kind}.gguf"));
        if !model.exists() {
            measure(script(&python, "engine_model.py").arg(&model).arg(&kind));
        }
        let rival =
            numbers(script(&python, "engine_rival.py").arg(&model).args([PROMPT, GENERATE, &threads]));
        let ours = numbers(Command::new(target().join("release/strata")).arg("bench").arg(&model).args([
            "--prompt-tokens",
            PROMPT,
            "--generate",
            GENERATE,
            "--threads",
            &threads,
            "--backend",
            "cpu",
            "--json",
        ]));
        println!("{kind:<8}");
        for (name, values) in [("strata", &ours), ("llama", &rival)] {
            println!(
                "  {name:<8}{:>15.1} ({:>6.1}){:>19.1} ({:>6.1})",
                values[0], values[2], values[1], values[3]
            );
        }
        println!(
            "  ratio   {:>15.2} ({:>6.2}){:>19.2} ({:>6.2})",
            ours[0] / rival[0],
            ours[2] / rival[2],
            ours[1] / rival[1],
            ours[3] / rival[3]
        );
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

fn target() -> PathBuf {
    root().join("target")
}

/// The packages that the engine's tests use, in the same place.
fn packages() -> PathBuf {
    let folder = target().join("engine-python/llama_cpp");
    if !folder.join("cyllama").exists() {
        let pip = ["-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--target"];
        let pins = ["gguf==0.19.0", "cyllama==0.2.18", "numpy>=1.24,<3"];
        measure(Command::new("python3").args(pip).arg(&folder).args(pins));
    }
    folder
}

fn script(python: &Path, name: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(root().join("bench/python").join(name)).env("PYTHONPATH", python);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Tokens a second: prompt and decode by processor time, then by wall time.
fn numbers(command: &mut Command) -> [f64; 4] {
    let output = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let number = |name: &str| {
        let rest = text.split(&format!("\"{name}\":")).nth(1).expect(name);
        let end = rest.find([',', '}']).expect("an end");
        rest[..end].trim().parse().expect("a number")
    };
    [
        number("prompt_tokens_per_cpu_second"),
        number("decode_tokens_per_cpu_second"),
        number("prompt_tokens_per_second"),
        number("decode_tokens_per_second"),
    ]
}
