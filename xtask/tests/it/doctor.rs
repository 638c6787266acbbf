//! `doctor` as a person and as a pipeline meet it.

use crate::support::{World, misfits, store, workspace_root};
use serde_json::Value;

fn world() -> World {
    World::with_lock(&std::fs::read_to_string(workspace_root().join("toolchains.lock")).expect("the lock"))
}

/// The first event of a run with `--format json`, which has to fit the schema.
fn result(world: &World, stdout: &str) -> Value {
    let line = stdout.lines().next().expect("a line");
    world.write("result.json", line);
    assert_eq!(misfits("doctor.schema.json", &world.path("result.json")), "");
    serde_json::from_str::<Value>(line).expect("JSON")["result"].clone()
}

#[test]
fn a_machine_without_the_toolchain_is_not_ready() {
    let world = world();
    let run = world.run(&["doctor", "--toolchain", "lite", "--format", "json"]).exits(6);
    let result = result(&world, &run.stdout);
    assert_eq!((&result["ready"], &result["toolchain"]), (&Value::from(false), &Value::from("lite")));
    let error: Value = serde_json::from_str(run.stdout.lines().nth(1).expect("a second line")).expect("JSON");
    assert_eq!(
        (&error["exit_code"], &error["hint"]),
        (&Value::from(6), &Value::from("cargo xtask bootstrap --toolchain lite"))
    );
    let human = world.run(&["doctor", "--toolchain", "lite"]).exits(6);
    let mut lines = human.stdout.lines();
    let first = lines.next().expect("a line");
    assert!(
        first.starts_with("problem  toolchain lite (ROCm 5.7.1): not installed: llvm is missing, 1"),
        "{first}"
    );
    assert!(first.ends_with(" MB to download"), "{first}");
    assert_eq!(lines.next(), Some("         cargo xtask bootstrap --toolchain lite"));
    assert!(!world.path("store").exists(), "it looks and changes nothing");
}

#[test]
fn a_machine_that_cannot_fetch_the_toolchain_is_told_so_first() {
    let world = world();
    let mut command = world.command(&["doctor", "--toolchain", "lite"]);
    command.env("PATH", world.path("nothing"));
    let run = world.ended(command.output().expect("xtask starts")).exits(6);
    let problems: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("problem")).collect();
    assert!(problems[0].contains("no apt-get was found, which fetches "), "{problems:?}");
    assert!(problems[1].contains("no pip was found"), "{problems:?}");
    assert!(problems[2].contains("not installed"), "{problems:?}");
}

#[test]
fn a_machine_with_the_toolchain_is_ready_whatever_its_gpu() {
    let world = world();
    let mut command = world.command(&["doctor", "--toolchain", "lite", "--format", "json"]);
    command
        .arg("--store")
        .arg(store())
        .env("HIP_PATH", world.path("space"))
        .env("HTTPS_PROXY", "http://u:secret@proxy:1");
    let run = world.ended(command.output().expect("xtask starts")).exits(0);
    let result = result(&world, &run.stdout);
    assert_eq!(result["ready"], true);
    let checks = result["checks"].as_array().expect("checks");
    let of = |topic: &str| {
        checks
            .iter()
            .filter(|check| check["topic"] == topic)
            .map(|check| check["what"].as_str().expect("text"))
            .collect::<Vec<_>>()
    };
    assert!(
        of("sdk").iter().any(|what| what.ends_with("/space` (HIP_PATH): there is no such folder")),
        "{:?}",
        of("sdk")
    );
    assert_eq!(of("proxy"), ["HTTPS_PROXY=http://***@proxy:1"]);
    assert!(!run.stdout.contains("secret"));
}
