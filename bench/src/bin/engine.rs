//! The engine's speed against llama.cpp's (cyllama's wheel): the same file, threads and machine, one right after the other, several times. Medians are printed, of the
//! speeds and of the ratios of each pair, so that a machine that does other things too does not decide.
//!
//! `cargo run --release --package bench --bin engine -- [TYPE]… [--threads N] [--prompt N] [--repeat N]`, after
//! `cargo build --release --package engine --bin strata`. `moe-TYPE` is a mixture of experts. It needs python3 with pip. The model is random, of Qwen3-0.6B's shape
//! with a smaller vocabulary. Tokens a second of processor time are printed beside those of wall time.

use bench::{measure, median, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

const GENERATE: &str = "16";

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str, default: &str| {
        let at = arguments.iter().position(|argument| argument == name);
        at.map_or(default.to_owned(), |at| arguments.drain(at..at + 2).nth(1).expect("a number"))
    };
    let (threads, prompt) = (option("--threads", "1"), option("--prompt", "128"));
    let repeat: usize = option("--repeat", "3").parse().expect("a number");
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
        let run = || {
            let rival =
                numbers(script(&python, "engine_rival.py").arg(&model).args([&prompt, GENERATE, &threads]));
            let ours = numbers(
                Command::new(target().join("release/strata"))
                    .args(["bench", "--json", "--backend", "cpu", "--generate", GENERATE])
                    .args(["--prompt-tokens", &prompt, "--threads", &threads])
                    .arg(&model),
            );
            [ours, rival, std::array::from_fn(|value| ours[value] / rival[value])]
        };
        let runs: Vec<[[f64; 4]; 3]> = (0..repeat.max(1)).map(|_| run()).collect();
        println!("{kind:<8}");
        for (row, name) in ["strata", "llama", "ratio"].into_iter().enumerate() {
            let [a, b, c, d] =
                std::array::from_fn(|value| median(runs.iter().map(|run| run[row][value]).collect()));
            println!("  {name:<8}{a:>15.2} ({c:>7.2}){b:>18.2} ({d:>7.2})");
        }
    }
}

fn target() -> PathBuf {
    workspace().join("target")
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
    command.arg(workspace().join("bench/python").join(name)).env("PYTHONPATH", python);
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
