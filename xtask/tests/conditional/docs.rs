//! The command blocks of README and docs, word for word, in a copy of the workspace; those that are not cheap are named with the reason.

use crate::commands_in_docs::{DocCommand, commands_in_docs};
use crate::support::{World, store, workspace_root};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// What is not run, and why: the first rule whose words are part of the command.
const NOT_RUN: [(&str, &str); 17] = [
    ("cargo test", "a test does not run the tests"),
    (
        "sh prerequisites.sh",
        "installs packages and takes ten minutes: `a_newcomer_follows_the_readme` runs it",
    ),
    ("cargo xtask release", "builds for minutes; xtask/tests/it/release.rs runs the same"),
    ("cargo clippy", "takes minutes"),
    ("cargo fmt", "`the_code_is_formatted` runs it"),
    ("lock update", "asks the registries"),
    ("lock add", "downloads gigabytes from an address that is an example"),
    (
        "cargo xtask mirror",
        "downloads 160 MB; `a_mirror_serves_a_machine_without_a_network` runs it on small archives",
    ),
    ("cargo vendor", "downloads every crate"),
    ("--offline --mirror", "needs the mirror of the block before"),
    ("--host x86_64-pc-windows-gnu", "compiles for minutes; xtask/tests/wine runs it where Wine is"),
    ("--from ../trio", "needs a tree of somebody; xtask/tests/it/project.rs builds one"),
    ("build --toolchain lite --targets gfx1201", "compiles for minutes"),
    (
        "verify --simulate",
        "needs what the block before has built; `shipped_kernels_give_the_references_numbers` runs it",
    ),
    ("verify dist/", "needs a release; `what_is_unpacked_is_verified_and_starts` runs it"),
    ("ls dist", "needs a release"),
    ("strata ", "needs a model of gigabytes; engine/tests run it on small ones"),
];

/// What ends otherwise than with 0 where all is well.
const OTHER_CODES: [(&str, i32); 1] = [("cargo xtask checklist", 1)];

/// The commands, each with the reason why it is not run here, if there is one.
pub(crate) fn commands() -> Vec<(DocCommand, Option<String>)> {
    let reason = |command: &DocCommand| {
        let rule = NOT_RUN.iter().find(|(words, _)| command.command.contains(words));
        rule.map(|(_, reason)| (*reason).to_owned())
    };
    let with_reason = |command: DocCommand| {
        let reason = reason(&command);
        (command, reason)
    };
    commands_in_docs().into_iter().map(with_reason).collect()
}

/// The workspace's files in a folder of their own, so that no command changes the workspace.
fn copy() -> &'static World {
    static COPY: OnceLock<World> = OnceLock::new();
    COPY.get_or_init(|| {
        let world = World::new();
        let script =
            "git ls-files --cached --others --exclude-standard | tar -cf - -T - | tar -xf - -C \"$1\"";
        let status = Command::new("bash")
            .args(["-c", script, "copy"])
            .arg(world.root())
            .current_dir(workspace_root())
            .status();
        assert!(status.expect("bash").success());
        world
    })
}

/// Runs one as it stands there; `cargo xtask` is the xtask of these tests.
pub(crate) fn runs(command: &str) {
    let world = copy();
    let script = format!(
        "cargo() {{ if [ \"$1\" = xtask ]; then shift; \"$XTASK\" \"$@\"; else command cargo \"$@\"; fi; }}\n{command}"
    );
    let plain = world.command(&[]);
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]).current_dir(world.root());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => bash.env(name, value),
            None => bash.env_remove(name),
        };
    }
    bash.env("XTASK", plain.get_program()).env("STRATA_STORE", store());
    // What is written below `~` must not be somebody's.
    bash.env("HOME", world.path("home")).env("CARGO_HOME", home_of("CARGO_HOME", ".cargo"));
    bash.env("RUSTUP_HOME", home_of("RUSTUP_HOME", ".rustup"));
    let run = world.ended(bash.output().expect("bash"));
    let code = OTHER_CODES.iter().find(|(words, _)| command.contains(words)).map_or(0, |(_, code)| *code);
    run.exits(code);
}

/// Where cargo and rustup keep things, whatever HOME is for the command.
fn home_of(variable: &str, folder: &str) -> std::ffi::OsString {
    std::env::var_os(variable).unwrap_or_else(|| {
        let home = std::env::var_os("HOME").unwrap_or_default();
        Path::new(&home).join(folder).into()
    })
}

/// Every rule is about a command that is there.
pub(crate) fn every_reason_is_used() {
    let commands = commands_in_docs();
    for (words, _) in NOT_RUN {
        assert!(commands.iter().any(|command| command.command.contains(words)), "`{words}` is in no page");
    }
}

/// Why the README is not followed here, if it is not.
pub(crate) fn newcomer_missing() -> Option<String> {
    let is_asked = std::env::var_os("STRATA_NEWCOMER").is_some();
    (!is_asked).then(|| "takes ten minutes and installs packages: STRATA_NEWCOMER=1 runs it".to_owned())
}

/// A fresh clone and the README's first block, word for word.
pub(crate) fn a_newcomer_follows_the_readme() {
    let world = World::new();
    let clone = world.path("clone");
    let cloned = Command::new("git").args(["clone", "--quiet"]).arg(workspace_root()).arg(&clone).status();
    assert!(cloned.expect("git").success());
    let first = commands_in_docs().into_iter().find(|command| command.place.starts_with("README.md:"));
    let first = first.expect("a first block").command;
    let status =
        Command::new("bash").args(["-c", &first]).current_dir(&clone).env_remove("STRATA_STORE").status();
    assert!(status.expect("bash").success(), "{first}");
    let zips = std::fs::read_dir(clone.join("dist")).expect("dist").flatten();
    let zips = zips.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "zip"));
    assert_eq!(zips.count(), 2);
}
