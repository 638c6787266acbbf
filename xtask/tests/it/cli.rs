//! Words and exit codes of the command line.

use crate::support::{World, workspace_root};

fn real_lock() -> String {
    std::fs::read_to_string(workspace_root().join("toolchains.lock")).expect("the lock")
}

#[test]
fn help_of_every_command() {
    let world = World::new();
    let mut texts = Vec::new();
    for command in [
        "",
        "bootstrap",
        "build",
        "dist",
        "release",
        "doctor",
        "verify",
        "lock",
        "lock show",
        "lock check",
        "lock add",
        "lock update",
        "store",
        "store list",
        "store verify",
        "store gc",
        "store path",
        "mirror",
        "env",
        "completions",
        "man",
        "checklist",
    ] {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        texts.push(format!(
            "$ cargo xtask {}\n{}",
            arguments.join(" "),
            world.run(&arguments).exits(0).stdout
        ));
    }
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn mistakes_get_an_answer() {
    let world = World::with_lock(&real_lock());
    let mut texts = Vec::new();
    for (arguments, code) in [
        (&["bild"][..], 2),
        (&["bootstrap", "--toolchain", "litte"], 2),
        (&["build", "--toolchain", "lite"], 6),
        (&["release", "--toolchain", "lite", "--targets", "gfx1210"], 2),
        (&["release", "--toolchain", "lite", "--targets", "gfx1030"], 2),
        (&["release", "--toolchain", "lite", "--targets", ""], 2),
        (&["release", "--toolchain", "lite", "--targets", "native"], 6),
        (&["verify", "."], 2),
        (&["verify", "nowhere"], 1),
    ] {
        let run = world.run(arguments).exits(code);
        texts.push(format!("$ cargo xtask {}\n{}", arguments.join(" "), run.stderr));
    }
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn a_bad_lock_points_at_its_line() {
    let world = World::with_lock("version = 1\n[[package]]\nname = \"x\"\ncolour = \"red\"\n");
    let run = world.run(&["lock", "show"]).exits(3);
    insta::assert_snapshot!(run.stderr, @r"
    error[L02]: [ROOT]/toolchains.lock:4:1: unknown field `colour`, expected one of `name`, `version`, `host`, `license`, `provides`, `only`, `source`

    hint: docs/lock-format.md describes every key; `cargo xtask lock add` writes entries
    ");
    let missing = World::new().run(&["bootstrap"]).exits(3);
    insta::assert_snapshot!(missing.stderr, @r"
    error[L01]: failed to read `[ROOT]/toolchains.lock`
    caused by: No such file or directory (os error 2)

    hint: run cargo xtask in the workspace; toolchains.lock lies in its root
    ");
}

#[test]
fn errors_for_programs_are_one_json_line() {
    let world = World::with_lock(&real_lock());
    let run = world.run(&["--format", "json", "build", "--toolchain", "lite"]).exits(6);
    let event: serde_json::Value = serde_json::from_str(&run.stdout).expect("one JSON object");
    assert_eq!(event["event"], "error");
    assert_eq!(event["exit_code"], 6);
    assert_eq!(event["hint"], "cargo xtask bootstrap --toolchain lite");
    assert_eq!(run.stderr, "");
}

#[test]
fn a_dry_run_downloads_nothing() {
    let world = World::with_lock(&real_lock());
    let run = world.run(&["bootstrap", "--dry-run"]).exits(0);
    assert!(run.stdout.contains("composable-kernel"), "{}", run.stdout);
    assert!(!world.path("store").exists());
}
