//! What is made for shells, readers of man pages, IDEs and CMake.

use crate::support::{World, component_world, store, workspace_root};
use std::process::Command;

/// The commands that `--help` lists, each on a line that begins with two spaces.
fn command_names(world: &World) -> Vec<String> {
    let help = world.run(&["--help"]).exits(0).stdout;
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("commands");
    let lines = list.lines().filter(|line| !line.starts_with("   "));
    let names: Vec<String> =
        lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    assert!(names.len() > 10, "{help}");
    names.into_iter().filter(|name| name != "help").collect()
}

/// What bash would offer at the end of `line`.
fn offered(world: &World, line: &str) -> Vec<String> {
    let script = world.path("completions.bash");
    if !script.is_file() {
        world.write("completions.bash", &world.run(&["completions", "bash"]).exits(0).stdout);
    }
    let program = line.split(' ').next().expect("a program");
    let code = format!(
        "source completions.bash; read -ra words <<< '{line}'; [[ '{line}' == *' ' ]] && words+=(''); COMP_LINE='{line}' COMP_WORDS=(\"${{words[@]}}\") COMP_CWORD=$((${{#words[@]}} - 1)); \
         function=$(complete -p {program} | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); $function {program} \"${{words[-1]}}\" \"${{words[-2]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let output = Command::new("bash").args(["-c", &code]).current_dir(world.root()).output().expect("bash");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_values() {
    let world = World::new();
    for (line, expected) in [
        ("xtask boot", &["bootstrap"][..]),
        ("cargo xtask ver", &["verify"]),
        ("cargo xtask doctor --expl", &["--explain"]),
        ("cargo xtask lock up", &["update"]),
        ("cargo xtask build --launcher s", &["sccache"]),
        ("xtask env --for cm", &["cmake-presets"]),
    ] {
        assert_eq!(offered(&world, line), expected, "{line}");
    }
    assert!(!offered(&world, "xtask co").contains(&"compile".to_owned()), "nobody types it");
}

#[test]
fn each_shell_gets_its_own_completions() {
    let world = World::new();
    for (shell, words) in [
        ("zsh", "#compdef xtask"),
        ("fish", "complete -c cargo -n '__fish_seen_subcommand_from xtask'"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
    ] {
        let script = world.run(&["completions", shell]).exits(0).stdout;
        assert!(script.contains(words) && script.contains("bootstrap"), "{shell}: {script}");
    }
    world.run(&["completions", "tcsh"]).exits(2);
}

/// Whether `script` is PowerShell, by its grammar.
fn is_powershell(script: &str) -> bool {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_pwsh::LANGUAGE.into()).expect("a grammar of this version");
    !parser.parse(script, None).expect("parses").root_node().has_error()
}

#[test]
fn what_powershell_gets_is_powershell() {
    let world = component_world();
    let completions = world.run(&["completions", "powershell"]).exits(0).stdout;
    let environment = run(&world, &["env", "--for", "powershell"]).exits(0).stdout;
    for script in [completions, environment] {
        assert!(is_powershell(&script), "{script}");
        let quote = script.rfind('\'').expect("a quote");
        assert!(!is_powershell(&format!("{}{}", &script[..quote], &script[quote + 1..])), "{script}");
    }
}

#[test]
fn each_command_has_a_man_page() {
    let world = World::new();
    let written = world.run(&["man", "--out", "man"]).exits(0).stdout;
    for name in command_names(&world) {
        let path = format!("man/cargo-xtask-{name}.1");
        assert!(written.contains(&path), "{path} is not in {written}");
    }
    let page = std::fs::read_to_string(world.path("man/cargo-xtask-lock-add.1")).expect("a page");
    assert!(page.contains(".TH cargo-xtask-lock-add 1"), "{page}");
    assert!(!written.contains("compile"), "{written}");
}

/// A world with one component, and the toolchain of all tests.
fn run(world: &World, arguments: &[&str]) -> crate::support::Run {
    let output = world.command(arguments).args(["--toolchain", "lite", "--store"]).arg(store()).output();
    world.ended(output.expect("xtask starts"))
}

#[test]
fn a_shell_has_the_compiler_of_the_lock() {
    let world = component_world();
    let script = run(&world, &["env", "--targets", "gfx1201"])
        .exits(0)
        .stdout
        .replace("[ROOT]", &world.root().display().to_string());
    let code =
        format!("{script}\n\"$CXX\" --version && cmake --version && ninja --version && echo $STRATA_TARGET");
    let output = Command::new("bash").args(["-c", &code]).output().expect("bash");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("clang version 22") && text.trim_end().ends_with("gfx1201"), "{text}");
    let json = run(&world, &["env", "--for", "json"]).exits(0).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["variables"]["CMAKE_GENERATOR"], "Ninja");
    for leak in ["HIP_PATH", "ROCM_PATH", "HOME", "PATH"] {
        assert!(value["variables"][leak].is_null(), "{leak}");
    }
    for (shell, start) in [("fish", "set -gx CC '"), ("powershell", "$env:CC = '")] {
        assert!(run(&world, &["env", "--for", shell]).exits(0).stdout.starts_with(start), "{shell}");
    }
}

/// CMake is asked directly, as somebody may who builds without xtask, which would have refused the target.
#[test]
fn a_target_without_kernels_is_an_error_and_no_empty_library() {
    let world = component_world();
    world.write("ck/include/ck_tile/core.hpp", "");
    let script = run(&world, &["env", "--for", "bash"])
        .exits(0)
        .stdout
        .replace("[ROOT]", &world.root().display().to_string());
    let configure = |target: &str| {
        let native = workspace_root().join("aiter-kernels/native");
        let code = format!(
            "{script}\ncmake -S '{}' -B build-{target} -DSTRATA_TARGET={target} -DSTRATA_HIP_ROOT=$STRATA_HIP_ROOT -DCOMPOSABLE_KERNEL_ROOT=$PWD/ck 2>&1",
            native.display()
        );
        let output = Command::new("bash").args(["-c", &code]).current_dir(world.root()).output();
        let output = output.expect("bash");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (is_configured, said) = configure("gfx1201");
    assert!(is_configured, "{said}");
    let (is_configured, said) = configure("gfx1030");
    assert!(!is_configured && said.contains("gfx1030 has no kernel for silu_and_mul"), "{said}");
}

#[test]
fn an_ide_builds_with_the_presets_and_reads_the_compile_commands() {
    let world = component_world();
    let built = run(&world, &["build", "--targets", "gfx1201"]).exits(0);
    assert!(built.stdout.contains("1 built"), "{}", built.stdout);
    let commands = std::fs::read_to_string(world.path("compile_commands.json")).expect("for clangd");
    let commands: serde_json::Value = serde_json::from_str(&commands).expect("JSON");
    let command = &commands[0];
    assert!(command["file"].as_str().expect("file").ends_with("scale/native/scale.hip"), "{commands}");

    run(&world, &["env", "--for", "cmake-presets", "--write", "--targets", "gfx1100,gfx1201"]).exits(0);
    let json = run(&world, &["env", "--for", "json"]).exits(0).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let cmake = value["variables"]["CMAKE"]
        .as_str()
        .expect("cmake")
        .replace("[ROOT]", &world.root().display().to_string());
    for arguments in [&["--preset", "gfx1201"][..], &["--build", "--preset", "gfx1201"]] {
        let output = Command::new(&cmake)
            .args(arguments)
            .current_dir(world.path("scale/native"))
            .output()
            .expect("cmake");
        assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert!(world.path("target/ide/scale/gfx1201").is_dir());
    // The presets are no input of a build.
    assert!(run(&world, &["build", "--targets", "gfx1201"]).exits(0).stdout.contains("0 built"));
}

#[test]
fn the_examples_of_help_are_commands() {
    let world =
        World::with_lock(&std::fs::read_to_string(workspace_root().join("toolchains.lock")).expect("lock"));
    let mut count = 0;
    for name in command_names(&world) {
        let text = world.run(&[&name, "--help"]).exits(0).stdout;
        let examples = text.split("Examples:").nth(1).unwrap_or_else(|| panic!("{name} has no examples"));
        for line in examples.lines().map(str::trim).filter(|line| line.contains("cargo xtask ")) {
            let typed = line.split("cargo xtask ").nth(1).expect("arguments");
            let typed = typed
                .split("  ")
                .next()
                .expect("a command")
                .split([')', '|', '>'])
                .next()
                .expect("arguments");
            // `--help` of the subcommand is printed only after everything before it was understood.
            let arguments: Vec<&str> = typed.split_whitespace().chain(["--help"]).collect();
            let run = world.run(&arguments);
            assert_eq!(run.code, Some(0), "{line}\n{}", run.stderr);
            count += 1;
        }
    }
    assert!(count > 30, "{count} examples");
}
