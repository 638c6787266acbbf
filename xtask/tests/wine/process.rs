//! What the system does to xtask.exe: it is killed or interrupted in the middle of a build, its trees are read-only, its paths are long.

use crate::built::HOST;
use crate::flow::{TOOLCHAIN, bootstrapped, with};
use crate::support::World;
use crate::wine::{compile, text, windows};
use crate::world::{ALL, WRAPPED, engine, world, xtask, xtask_ends};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits for what another process does. Programs start slowly under Wine, so it gets longer than elsewhere: a busy machine took over three minutes.
#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed().as_secs() < 400, "waited in vain until {what}");
        std::thread::yield_now();
    }
}

/// A build that waits for a process which never ends, and that process's program.
fn hanging_build(world: &World) -> Child {
    let hang = world.path("hang.exe");
    compile(include_str!("hang.c"), &[], &hang);
    let started = world.path("started");
    let cmake = std::fs::read_to_string(world.path("engine/native/CMakeLists.txt")).expect("CMakeLists.txt");
    let slashes = |path: &Path| windows(path).replace('\\', "/");
    let line = format!("execute_process(COMMAND \"{}\" \"{}\")\n", slashes(&hang), slashes(&started));
    // Before `project`, which takes its time.
    world.write("engine/native/CMakeLists.txt", &(line + &cmake));
    let store = windows(&bootstrapped().path("store"));
    let child = xtask(world, &with(&["build", "--targets", "gfx1100"]))
        .args(["--store", &store])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Wine starts");
    wait_until("the process runs", || started.exists());
    assert!(runs(&hang), "the process is seen");
    child
}

/// Whether a process of this program runs; Wine keeps the command line.
fn runs(program: &Path) -> bool {
    let name = windows(program).replace('\\', "/");
    let processes = std::fs::read_dir("/proc").expect("proc").flatten();
    let command_line =
        |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
    processes.map(command_line).any(|line| {
        let program = line.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(program).replace('\\', "/") == name
    })
}

pub(crate) fn children_die_with_a_killed_xtask() {
    let (world, _server) = world(HOST, WRAPPED, ALL);
    let mut child = hanging_build(&world);
    child.kill().expect("kill");
    child.wait().expect("an end");
    wait_until("what ninja and cmake started has ended", || !runs(&world.path("hang.exe")));
}

pub(crate) fn an_interrupt_ends_a_build_in_order() {
    let (world, _server) = world(HOST, WRAPPED, ALL);
    let child = hanging_build(&world);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    wait_until("what ninja and cmake started has ended", || !runs(&world.path("hang.exe")));
}

pub(crate) fn read_only_trees_are_removed() {
    let (world, _server) = world(HOST, WRAPPED, &["dist", "ninja"]);
    xtask_ends(&world, &with(&["bootstrap"])).exits(0);
    let lock = std::fs::read_to_string(world.path("toolchains.lock")).expect("lock");
    world.write("toolchains.lock", &lock.replace("\"dist\", \"ninja\"", "\"dist\""));
    let run = xtask_ends(&world, &[&["store", "gc"], &TOOLCHAIN[..]].concat()).exits(0);
    let (entries, left) = world.store();
    assert_eq!((entries.len(), left), (1, Vec::new()), "ninja is gone: {}{}", run.stdout, run.stderr);
}

pub(crate) fn a_place_that_is_too_deep_is_refused_before_anything_is_unpacked() {
    let (origin, _server) = world(HOST, WRAPPED, &["dist"]);
    let root = std::env::temp_dir().display().to_string().len();
    let deep = World::at(origin.path(&format!("{}/{}", "d".repeat(100), "e".repeat(118 - root.min(60)))));
    engine(&deep, "[]");
    deep.write("toolchains.lock", &std::fs::read_to_string(origin.path("toolchains.lock")).expect("lock"));
    let run = xtask_ends(&deep, &with(&["bootstrap"]));
    assert_ne!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("MAX_PATH of Windows"), "{}", run.stderr);
    xtask_ends(&deep, &["lock", "show"]).exits(0);
}
