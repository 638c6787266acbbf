//! Habits that other people's programs check, and shells that not every machine has.

use crate::support::{World, component_world, store, workspace_root};
use std::path::PathBuf;
use std::process::Command;

/// Program, arguments and the name of the check.
const CHECKS: [(&str, &str, &[&str]); 4] = [
    ("the_book_is_built", "mdbook", &["build", "docs"]),
    (
        "licences_sources_and_versions_are_those_allowed",
        "cargo-deny",
        &["--offline", "check", "licenses", "bans", "sources"],
    ),
    ("no_word_is_misspelt", "typos", &[]),
    ("no_crate_is_unused", "cargo-machete", &[]),
];

/// Name, why it cannot run here, and what it does.
type Check = (&'static str, Option<String>, Box<dyn FnOnce() + Send>);

/// All of them.
pub(crate) fn checks() -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    for (name, program, arguments) in CHECKS {
        checks.push((name, missing(program), Box::new(move || passes(program, arguments))));
    }
    for (name, program) in [
        ("zsh_reads_its_completions", "zsh"),
        ("fish_completes_commands", "fish"),
        ("powershell_reads_its_completions", "pwsh"),
    ] {
        checks.push((name, missing(program), Box::new(move || completes(program))));
    }
    checks.push(("fish_has_the_compiler_of_the_lock", missing("fish"), Box::new(fish_has_the_compiler)));
    checks
}

fn missing(program: &str) -> Option<String> {
    let found = command(program).arg("--version").output().is_ok_and(|output| output.status.success());
    (!found).then(|| format!("there is no {program} (`sh prerequisites.sh --tools`)"))
}

/// The program that `prerequisites.sh --tools` has installed, or else one of the PATH.
fn command(program: &str) -> Command {
    let places = ["target/tools/bin", "target/tools/python/bin"];
    let ours = places.map(|place| workspace_root().join(place).join(program));
    Command::new(ours.into_iter().find(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(program)))
}

fn passes(program: &str, arguments: &[&str]) {
    let output = command(program).args(arguments).current_dir(workspace_root()).output().expect(program);
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // mdbook only warns of a tag that swallows the words behind it.
    assert!(output.status.success() && !text.contains(" WARN "), "{text}");
}

fn fish_has_the_compiler() {
    let world = component_world();
    let mut command_line =
        world.command(&["env", "--toolchain", "lite", "--targets", "gfx1201", "--for", "fish", "--store"]);
    let script = command_line.arg(store()).output().expect("xtask");
    assert!(script.status.success(), "{script:?}");
    std::fs::write(world.path("script"), script.stdout).expect("write");
    let asked = "source script; $CXX --version; ninja --version; echo $STRATA_TARGET";
    let output = command("fish").args(["--no-config", "-c", asked]).current_dir(world.root()).output();
    let text = String::from_utf8_lossy(&output.expect("fish").stdout).into_owned();
    assert!(text.contains("clang version 22") && text.trim_end().ends_with("gfx1201"), "{text}");
}

fn completes(shell: &str) {
    let world = World::new();
    let name = if shell == "pwsh" { "powershell" } else { shell };
    world.write("script", &world.run(&["completions", name]).exits(0).stdout);
    let (arguments, expected): (&[&str], &str) = match shell {
        "zsh" => (
            &[
                "-fc",
                "autoload -U compinit; compinit -D; source ./script; whence -w _xtask; whence -w _cargo-xtask",
            ],
            "_cargo-xtask: function",
        ),
        "fish" => (
            &[
                "--no-config",
                "-c",
                "source script; complete -C 'xtask boot'; complete -C 'cargo xtask lock up'",
            ],
            "update",
        ),
        _ => (
            &[
                "-NoProfile",
                "-c",
                ". ([scriptblock]::Create((Get-Content -Raw script))); (TabExpansion2 'xtask boot' 10).CompletionMatches.CompletionText",
            ],
            "bootstrap",
        ),
    };
    let output = command(shell).args(arguments).current_dir(world.root()).output().expect(shell);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(expected), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
