//! `strata generate`, `bench` and `plan` as processes.
#![cfg(unix)]

use crate::support::{mixed, no_runtime, tiny};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) fn model() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tiny.gguf");
    std::fs::write(&path, tiny().bytes()).expect("a file");
    (folder, path)
}

/// `strata` with nothing in its environment.
pub(crate) fn strata() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
    command.env_clear().stdin(Stdio::null());
    command
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn text_is_the_same_for_the_same_seed_and_json_says_how_long_it_took() {
    let (_folder, path) = model();
    let run = |arguments: &[&str]| {
        let output = strata()
            .arg("generate")
            .arg(&path)
            .args(["--prompt", "hello", "-n", "20"])
            .args(arguments)
            .output();
        let output = output.expect("strata starts");
        assert!(output.status.success(), "{}", talk(&output));
        out(&output)
    };
    assert_eq!(run(&["--seed", "5", "--ignore-end"]), run(&["--seed", "5", "--ignore-end"]));
    assert_ne!(run(&["--seed", "5", "--ignore-end"]), run(&["--seed", "6", "--ignore-end"]));
    let json: serde_json::Value =
        serde_json::from_str(&run(&["--json", "--temperature", "0", "--ignore-end"])).expect("one object");
    assert_eq!((&json["prompt_tokens"], &json["generated_tokens"]), (&7.into(), &20.into()));
    assert_eq!(json["finish"], "length");
    assert!(json["prompt_tokens_per_second"].as_f64().is_some_and(|speed| speed > 0.0), "{json}");
    let printed = run(&["--temperature", "0", "--ignore-end"]);
    assert_eq!(printed.trim_end_matches('\n'), json["text"].as_str().expect("text").trim_end_matches('\n'));
    assert!(run(&["--chat", "--system", "be brief", "--temperature", "0"]).ends_with('\n'));
}

#[test]
fn mistakes_get_an_answer() {
    let (folder, path) = model();
    let name = |output: &Output| talk(output).replace(&folder.path().display().to_string(), "FOLDER");
    let mut said = Vec::new();
    let other = folder.path().join("other.gguf");
    std::fs::write(&other, b"not a model").expect("a file");
    let (path, other) = (path.display().to_string(), other.display().to_string());
    let missing = folder.path().join("missing.gguf").display().to_string();
    let cases: [&[&str]; 7] = [
        &["generate", &missing, "--prompt", "x"],
        &["generate", &other, "--prompt", "x"],
        &["generate", &path, "--prompt", "x", "--top-p", "1.5"],
        &["generate", &path, "--prompt", "x", "--context", "1000"],
        &["bench", &path, "--prompt-tokens", "250", "--generate", "10", "--threads", "2"],
        &["serve", &path, "--host", "0.0.0.0"],
        &["plan", &path, "--gpus", "one"],
    ];
    for arguments in cases {
        let output = strata().args(arguments).output().expect("strata starts");
        let code = output.status.code().expect("a code");
        said.push(format!("{} -> {code}\n{}", arguments[0], name(&output)));
    }
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn bench_measures_and_plan_ends_in_its_verdict() {
    let (_folder, path) = model();
    let arguments = ["--prompt-tokens", "40", "--generate", "5", "--repeat", "1", "--json"];
    let output = strata().arg("bench").arg(&path).args(arguments).output().expect("strata starts");
    let json: serde_json::Value = serde_json::from_str(&out(&output)).expect("one object");
    assert!(json["decode_tokens_per_second"].as_f64().is_some_and(|speed| speed > 0.0), "{json}");
    let output = strata().arg("plan").arg(&path).output().expect("strata starts");
    assert!(
        output.status.success() && out(&output).ends_with("4 sequences of 256 tokens: FITS\n"),
        "{}",
        out(&output)
    );
    let runtime = no_runtime();
    let output =
        strata().env("LD_LIBRARY_PATH", runtime.path()).arg("plan").arg(&path).args(["--gpu", "3"]).output();
    let output = output.expect("strata starts");
    assert_eq!(output.status.code(), Some(1));
    let said = "error: there is no card: failed to load the HIP runtime; tried `libamdhip64.so.7` (";
    assert!(talk(&output).starts_with(said), "{}", talk(&output));
}

#[test]
fn a_reader_that_has_gone_is_no_fault() {
    let (_folder, path) = model();
    let bench = ["--prompt-tokens", "4", "--generate", "2", "--repeat", "1"];
    let commands: [(&str, &[&str]); 4] = [
        ("plan", &[]),
        ("plan", &["--json"]),
        ("bench", &bench),
        ("generate", &["--prompt", "x", "-n", "2", "--json"]),
    ];
    for (command, arguments) in commands {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = strata().arg(command).arg(&path).args(arguments).stdout(writer).output();
        let output = output.expect("strata starts");
        assert!(output.status.success(), "{command} {arguments:?}: {}", talk(&output));
    }
}

#[test]
fn help_of_every_command() {
    let commands: [&[&str]; 5] = [&[], &["generate"], &["serve"], &["bench"], &["plan"]];
    let said = commands.map(|command| {
        let output =
            strata().args(command).arg("--help").env("COLUMNS", "100").output().expect("strata starts");
        out(&output)
    });
    insta::assert_snapshot!(said.join("\n----\n"));
}

/// The models that `xtask/tests/conditional/cards.rs` runs on simulated cards.
#[test]
fn every_architecture_runs_with_every_type_of_tensor() {
    for architecture in ["llama", "qwen2", "qwen3", "qwen3moe"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mixed.gguf");
        std::fs::write(&path, mixed(architecture).bytes()).expect("a file");
        let arguments = ["--prompt", "hello", "-n", "4", "--ignore-end", "--json", "--backend", "cpu"];
        let output = strata().arg("generate").arg(&path).args(arguments).output().expect("strata starts");
        assert!(output.status.success(), "{architecture}: {}", talk(&output));
    }
}

/// Without a HIP runtime.
#[test]
fn a_card_that_is_asked_for_has_to_be_there() {
    let ((_folder, path), runtime) = (model(), no_runtime());
    let said = [&["--backend", "hip"][..], &["--gpu", "0"], &["--backend", "cpu", "--gpus", "all"]].map(
        |arguments| {
            let mut command = strata();
            command.env("LD_LIBRARY_PATH", runtime.path()).arg("generate").arg(&path).args(["--prompt", "x"]);
            let output = command.args(arguments).output().expect("strata starts");
            assert_eq!(output.status.code(), Some(1));
            talk(&output).replace(&runtime.path().display().to_string(), "FOLDER")
        },
    );
    insta::assert_snapshot!(said.join("\n"));
}
