//! Building with a real compiler: a small workspace of the test's own with the toolchain `lite`.
//!
//! The toolchain is taken from the workspace's store (or STRATA_STORE), where it is installed if it is not there yet.

use crate::support::{Fault, Run, Server, World, dist_members, sha256, tar_gz, wait_until};
use crate::support::{KERNEL, component_world, store};

fn build(world: &World, targets: &str, more: &[&str]) -> Run {
    let store = store().display().to_string();
    let arguments = ["build", "--toolchain", "lite", "--targets", targets, "--store", &store];
    world.run(&[&arguments, more].concat())
}

fn manifest(world: &World, target: &str) -> serde_json::Value {
    let folder = format!("artifacts/0.1.0/x86_64-unknown-linux-gnu/scale/{target}/BUILD.json");
    serde_json::from_str(&std::fs::read_to_string(world.path(&folder)).expect("BUILD.json")).expect("JSON")
}

#[test]
fn each_target_gets_its_code_object_and_nothing_is_built_twice() {
    let world = component_world();
    build(&world, "gfx1100,gfx1201", &[]).exits(0);
    for (target, flags) in [("gfx1100", 0x41), ("gfx1201", 0x4e)] {
        let folder = world.path(&format!("artifacts/0.1.0/x86_64-unknown-linux-gnu/scale/{target}"));
        let object =
            std::fs::read(folder.join(format!("kernels/{target}/scale/scale.co"))).expect("the code object");
        assert_eq!(object[48], flags, "e_flags of {target}");
        let manifest = manifest(&world, target);
        assert_eq!(manifest["compiler"], "Debian clang version 22.1.8 (1~deb12u1)");
        assert_eq!(manifest["code_objects"][0]["kernels"][0]["wave_size"], 32);
        assert_eq!(manifest["outputs"][0]["sha256"], sha256(&object));
        let text = manifest.to_string();
        assert!(!text.contains(&world.root().display().to_string()), "a path of this machine: {text}");
        assert!(!text.contains(&store().display().to_string()), "a path of this machine: {text}");
        world.run(&["verify", &folder.display().to_string()]).exits(0);
    }
    assert_eq!(std::fs::read_to_string(world.path("artifacts/current")).expect("current"), "0.1.0\n");

    let log = world.path("target/xtask/x86_64-unknown-linux-gnu/scale/gfx1100/logs/compile.log");
    std::fs::remove_file(&log).expect("the log of the first build");
    let second = build(&world, "gfx1100,gfx1201", &[]).exits(0);
    assert_eq!(second.stdout, "2 artifacts, 0 built\n");
    assert!(!log.exists(), "a compiler was started");
}

#[test]
fn what_changed_is_rebuilt_and_named() {
    let world = component_world();
    build(&world, "gfx1100,gfx1201", &[]).exits(0);
    let reason = |run: Run| {
        let lines = run.stderr.lines().filter(|line| line.contains("(")).map(|line| line.trim().to_owned());
        lines.filter(|line| line.starts_with("build")).collect::<Vec<_>>()
    };
    let old = manifest(&world, "gfx1100");

    world.write("scale/native/scale.hip", &KERNEL.replace("*=", "+="));
    assert_eq!(
        reason(build(&world, "gfx1100", &[]).exits(0)),
        ["build scale gfx1100 (changed: native sources)"]
    );
    let new = manifest(&world, "gfx1100");
    assert_ne!(old["outputs"], new["outputs"], "another kernel");

    let lock = std::fs::read_to_string(world.path("toolchains.lock")).expect("lock");
    world.write("toolchains.lock", &format!("{lock}# a comment\n"));
    assert_eq!(reason(build(&world, "gfx1100", &[]).exits(0)), ["build scale gfx1100 (changed: lock)"]);

    let object = "artifacts/0.1.0/x86_64-unknown-linux-gnu/scale/gfx1100/kernels/gfx1100/scale/scale.co";
    world.write(object, "not a code object");
    assert_eq!(
        reason(build(&world, "gfx1100", &[]).exits(0)),
        ["build scale gfx1100 (`kernels/gfx1100/scale/scale.co` is not what was built)"]
    );
    assert_eq!(manifest(&world, "gfx1100")["outputs"], new["outputs"]);
}

#[test]
fn a_compile_error_names_kernel_target_and_log_and_keeps_the_last_artifact() {
    let world = component_world();
    build(&world, "gfx1201", &[]).exits(0);
    let before = manifest(&world, "gfx1201");
    world.write("scale/native/scale.hip", &KERNEL.replace("factor;", "no_such_name;"));
    let run = build(&world, "gfx1201", &[]).exits(1);
    for expected in [
        "error[B07]: scale for gfx1201: compile failed (exit status: 1), kernel scale",
        "use of undeclared identifier 'no_such_name'",
        "log: [ROOT]/target/xtask/x86_64-unknown-linux-gnu/scale/gfx1201/logs/compile.log",
    ] {
        assert!(run.stderr.contains(expected), "{expected}\n{}", run.stderr);
    }
    assert_eq!(manifest(&world, "gfx1201"), before);
    world.write("scale/native/scale.hip", KERNEL);
    assert_eq!(build(&world, "gfx1201", &[]).exits(0).stdout, "1 artifact, 0 built\n");
}

#[test]
fn kernels_and_declarations_must_agree() {
    let world = component_world();
    let cargo = std::fs::read_to_string(world.path("scale/Cargo.toml")).expect("Cargo.toml");
    world.write("scale/Cargo.toml", &cargo.replace("[\"scale\"]", "[\"scale\", \"shift\"]"));
    let run = build(&world, "gfx1100", &[]).exits(1);
    assert!(run.stderr.contains("shift: is declared in Cargo.toml and was not built"), "{}", run.stderr);
    world.write("scale/Cargo.toml", &cargo.replace("[\"scale\"]", "[]"));
    let run = build(&world, "gfx1100", &[]).exits(1);
    assert!(run.stderr.contains("scale: was built and is not declared in Cargo.toml"), "{}", run.stderr);
    world.write("scale/Cargo.toml", &cargo.replace("kernels", "kernel"));
    let run = build(&world, "gfx1100", &[]).exits(1);
    assert!(run.stderr.contains("unknown field `kernel`"), "{}", run.stderr);
}

#[test]
fn what_the_catalogue_does_not_allow_is_refused() {
    let world = component_world();
    let cargo = std::fs::read_to_string(world.path("scale/Cargo.toml")).expect("Cargo.toml");
    world.write("scale/Cargo.toml", &format!("{cargo}catalogue = \"native/kernels.json\"\n"));
    let kernel = |name: &str, threads: u32, arguments: u32, vgprs: u32, wmma: bool| {
        let budget = format!("\"vgprs\": {vgprs}, \"lds_bytes\": 0, \"scratch_bytes\": 0");
        let line = format!(
            "{{\"name\": \"{name}\", \"threads\": {threads}, \"argument_bytes\": {arguments}, {budget}, \"wmma\": {wmma}, \"constants\": {{}}}}"
        );
        let family = format!("{{\"scale\": [{line}]}}");
        world.write("scale/native/kernels.json", &format!("{{\"gfx11\": {family}, \"gfx12\": {family}}}"));
    };
    let refused = |expected: &str| {
        let run = build(&world, "gfx1201", &[]).exits(1);
        assert!(
            run.stderr.contains("scale for gfx1201: scale: is not what the catalogue says:"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains(expected), "{expected}\n{}", run.stderr);
    };
    kernel("scale", 1024, 12, 1, false);
    refused("scale: vgprs: 2, expected at most 1");
    kernel("scale", 1024, 16, 8, false);
    refused("scale: argument bytes: 12, expected 16");
    kernel("scale", 128, 12, 8, false);
    refused("scale: largest work-group: 1024, expected 128");
    kernel("scale", 1024, 12, 8, true);
    refused("scale: v_wmma: absent, expected present");
    kernel("shift", 1024, 12, 8, false);
    refused("scale: symbol: present, expected absent");
    kernel("scale", 1024, 12, 8, false);
    build(&world, "gfx1201", &[]).exits(0);
}

#[test]
fn targets_that_share_a_front_end_get_the_bytes_of_a_compile_of_their_own() {
    let world = component_world();
    // A warning that only the front end gives: it counts how often that ran.
    let warning = "#pragma clang diagnostic warning \"-Wunused-variable\"\n";
    world
        .write("scale/native/scale.hip", &format!("{warning}{}", KERNEL.replace("data[", "int idle; data[")));
    let targets = ["gfx1100", "gfx1102", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201"];
    let build_all = |more: &[&str]| {
        let _ = std::fs::remove_dir_all(world.path("artifacts"));
        let _ = std::fs::remove_dir_all(world.path("target"));
        build(&world, &targets.join(","), more).exits(0);
        let log = |target: &&str| {
            let path = format!("target/xtask/x86_64-unknown-linux-gnu/scale/{target}/logs/compile.log");
            std::fs::read_to_string(world.path(&path)).expect("log").matches("unused variable").count()
        };
        (targets.map(|target| manifest(&world, target)), targets.iter().map(log).sum::<usize>())
    };
    let (alone, front_ends) = build_all(&["--no-sharing"]);
    assert_eq!(front_ends, targets.len());
    let (shared, front_ends) = build_all(&[]);
    assert_eq!(front_ends, 1, "the source expands to the same for all of them");
    assert_eq!(alone, shared, "every byte and every record");
    assert!(!world.path("target/xtask/front-ends").exists());
}

#[test]
fn a_launcher_that_is_not_there_is_missed_before_anything_runs() {
    let world = component_world();
    let store = store().display().to_string();
    let arguments = ["build", "--toolchain", "lite", "--targets", "gfx1100", "--store", &store];
    let output = world
        .command(&[&arguments[..], &["--launcher", "sccache"]].concat())
        .env("PATH", world.root())
        .env("CARGO", env!("CARGO"))
        .output()
        .expect("xtask starts");
    let run = world.ended(output).exits(6);
    insta::assert_snapshot!(run.stderr, @r"
    error[M04]: --launcher sccache: there is no sccache on the PATH

    hint: install sccache, or leave --launcher out
    ");
}

#[test]
fn unknown_components_get_the_nearest_name() {
    let world = component_world();
    let run = build(&world, "gfx1100", &["--component", "scal"]).exits(2);
    insta::assert_snapshot!(run.stderr, @r"
    error[B03]: there is no component `scal`; the workspace has scale

    hint: did you mean `scale`?
    ");
}

#[test]
fn a_kernel_that_does_not_know_its_target_is_refused_by_the_gate() {
    let world = component_world();
    let module = std::fs::read_to_string(world.path("cmake/CodeObject.cmake")).expect("module");
    world.write(
        "cmake/CodeObject.cmake",
        &module.replace("--offload-arch=${STRATA_TARGET}", "--offload-arch=gfx1100"),
    );
    let run = build(&world, "gfx1201", &[]).exits(1);
    assert!(run.stderr.contains("scale for gfx1201: scale: is for gfx1100"), "{}", run.stderr);
}

#[test]
fn an_interrupted_build_ends_its_compilers_and_keeps_the_last_artifact() {
    let world = component_world();
    build(&world, "gfx1100", &[]).exits(0);
    let before = manifest(&world, "gfx1100");
    // A process that never ends, since nobody writes to the fifo: once started by cmake, once by ninja, which gives what it starts a group of its own.
    let fifo = world.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    world.write("hang.sh", &format!("echo $$ > '{0}.pid'; read line < '{0}'\n", fifo.display()));
    let script = world.path("hang.sh").display().to_string();
    let cmake = std::fs::read_to_string(world.path("scale/native/CMakeLists.txt")).expect("CMakeLists.txt");
    let (configure, compile) = ("execute_process(COMMAND sh ", "add_custom_target(hang ALL COMMAND sh ");
    // Who is killed cannot end anybody; Ninja, which is told, ends its compilers. CMake ends nobody that it waits for while it configures.
    for (wait, signal) in [(configure, "-INT"), (compile, "-INT"), (compile, "-KILL")] {
        world.write("scale/native/CMakeLists.txt", &format!("{cmake}{wait}\"{script}\")\n"));
        interrupt(&world, signal);
    }
    assert_eq!(manifest(&world, "gfx1100"), before);
}

/// Starts a build, waits until its process hangs, ends xtask, and sees that process end.
fn interrupt(world: &World, signal: &str) {
    let pid_file = world.path("fifo.pid");
    let _ = std::fs::remove_file(&pid_file);
    let store = store().display().to_string();
    // As in a slim image: no program `kill`, and whatever else.
    let tools = world.path("tools");
    std::fs::create_dir_all(&tools).expect("folder");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let _ = std::os::unix::fs::symlink(cargo, tools.join("cargo"));
    let child = world
        .command(&["build", "--toolchain", "lite", "--targets", "gfx1100", "--store", &store])
        .env("PATH", &tools)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("xtask starts");
    let read_pid = || std::fs::read_to_string(&pid_file).unwrap_or_default();
    wait_until("the process runs", || read_pid().ends_with('\n'));
    let pid = read_pid().trim().to_owned();
    let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
    let ended = child.wait_with_output().expect("xtask ends");
    if signal == "-INT" {
        world.ended(ended).exits(130);
    }
    // A process that nobody has asked for its exit status is dead, though it still has a number.
    let is_alive = || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    wait_until(&format!("process {pid} ends with xtask"), || !is_alive());
}

#[test]
fn builds_of_one_workspace_wait_for_each_other() {
    let world = component_world();
    let store = store().display().to_string();
    let arguments = ["build", "--toolchain", "lite", "--targets", "gfx1100", "--store", &store];
    world.write("target/xtask/build.lock", "");
    world.write("target/xtask/build.holder", "process 1 on somewhere since today");
    let lock = std::fs::File::open(world.path("target/xtask/build.lock")).expect("opens");
    lock.lock().expect("locks");
    let mut both = [world.start(&arguments), world.start(&arguments)];
    for child in &mut both {
        let mut said = std::io::BufReader::new(child.stderr.take().expect("stderr"));
        let mut line = String::new();
        std::io::BufRead::read_line(&mut said, &mut line).expect("reads");
        let words =
            "waiting for process 1 on somewhere since today, which is building or packing in this workspace";
        assert!(line.contains(words), "{line}");
        // Whoever goes on has somebody to talk to.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    }
    drop(lock);
    let ended = both.map(|child| world.ended(child.wait_with_output().expect("ends")).exits(0).stdout);
    let built = |count: &str| ended.iter().filter(|text| text.contains(count)).count();
    assert_eq!((built("1 artifact, 1 built"), built("1 artifact, 0 built")), (1, 1), "{ended:?}");
}

#[test]
fn sources_that_change_while_they_are_built_are_not_published() {
    use std::os::unix::fs::PermissionsExt;
    let world = component_world();
    let source = world.path("scale/native/scale.hip").display().to_string();
    let ccache = format!(
        "#!/bin/sh\ncase \"$1\" in\n  --version) echo ccache version 4.9 ;;\n  *) echo >> {source}; exec \"$@\" ;;\nesac\n"
    );
    world.write("bin/ccache", &ccache);
    std::fs::set_permissions(world.path("bin/ccache"), std::fs::Permissions::from_mode(0o755))
        .expect("chmod");
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").expect("PATH"));
    let mut command =
        world.command(&["build", "--toolchain", "lite", "--targets", "gfx1100", "--launcher", "ccache"]);
    command.arg("--store").arg(store()).env("PATH", path);
    let run = world.ended(command.output().expect("xtask")).exits(1);
    assert!(run.stderr.contains("native sources changed while they were built"), "{}", run.stderr);
    assert!(!world.path("artifacts/0.1.0").exists(), "nothing is published");
    build(&world, "gfx1100", &[]).exits(0);
}

#[test]
fn code_objects_know_no_host_and_are_compiled_once() {
    const WINDOWS: &str = "x86_64-pc-windows-gnu";
    let object = |world: &World, host: &str| {
        let path = format!("artifacts/0.1.0/{host}/scale/gfx1100/kernels/gfx1100/scale/scale.co");
        std::fs::read(world.path(&path)).expect("the code object")
    };
    let world = component_world();
    build(&world, "gfx1100", &[]).exits(0);
    build(&world, "gfx1100", &["--host", WINDOWS]).exits(0);
    assert!(!world.path(&format!("target/xtask/{WINDOWS}")).exists(), "no compiler was started for Windows");
    assert_eq!(object(&world, WINDOWS), object(&world, "x86_64-unknown-linux-gnu"));
    let alone = component_world();
    build(&alone, "gfx1100", &["--host", WINDOWS]).exits(0);
    assert_eq!(object(&alone, WINDOWS), object(&world, WINDOWS));
    let run = build(&world, "gfx1100", &["--host", "x86_64-pc-windows"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("the hosts are x86_64-unknown-linux-gnu, "), "{}", run.stderr);
}

#[test]
fn a_toolchain_that_lost_a_file_is_said_to_be_damaged() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let url = server.offer("dist.tar.gz", &archive, Fault::None);
    let world = component_world();
    world.write(
        "toolchains.lock",
        &format!(
            r#"version = 1
[[toolchain]]
name = "t"
host = "x86_64-unknown-linux-gnu"
rocm = "10.0.0"
targets = ["gfx1100", "gfx1201"]
packages = ["dist", "tools"]
[[package]]
name = "dist"
version = "10.0.0"
license = "MIT"
provides = ["compiler", "hip", "device-libs"]
[[package.source]]
channel = "url"
[[package.source.archive]]
url = "{url}"
sha256 = "{}"
[[package]]
name = "tools"
version = "1"
license = "MIT"
provides = ["cmake", "ninja"]
[[package.source]]
channel = "url"
[[package.source.archive]]
url = "{}"
sha256 = "{}"
"#,
            sha256(&archive),
            server.offer("tools.tar.gz", &tools(), Fault::None),
            sha256(&tools()),
        ),
    );
    world.run(&["bootstrap", "--toolchain", "t"]).exits(0);
    let clang = world.path(&format!("store/{}/tree/lib/llvm/bin/clang", &sha256(&archive)[..16]));
    use std::os::unix::fs::PermissionsExt;
    let bin = clang.parent().expect("bin");
    std::fs::set_permissions(bin, std::fs::Permissions::from_mode(0o755)).expect("chmod");
    std::fs::remove_file(&clang).expect("remove");
    let run = world.run(&["build", "--toolchain", "t", "--targets", "gfx1100"]).exits(3);
    assert!(run.stderr.contains("toolchain `t` is damaged"), "{}", run.stderr);
    assert!(run.stderr.contains("lib/llvm/bin/clang++` is missing"), "{}", run.stderr);
}

fn tools() -> Vec<u8> {
    use crate::support::Member;
    tar_gz(
        "",
        &["bin/cmake", "share/cmake-4.4/Modules/CMake.cmake", "ninja"]
            .map(|path| Member::file(path, "#!/bin/sh\n")),
    )
}
