//! The main job on Windows: bootstrap, doctor, build, and a second build.

use crate::built::HOST;
use crate::support::{Server, World, store};
use crate::wine::text;
use crate::world::{ALL, LAYOUTS, WRAPPED, engine, llvm_program, world, xtask_ends};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const TOOLCHAIN: [&str; 2] = ["--toolchain", "t"];
const TARGETS: [&str; 2] = ["gfx1100", "gfx1201"];

fn with(command: &[&'static str]) -> Vec<&'static str> {
    [command, &TOOLCHAIN].concat()
}

/// A bootstrapped workspace.
fn bootstrapped() -> &'static World {
    static WORLD: OnceLock<(World, Server)> = OnceLock::new();
    &WORLD
        .get_or_init(|| {
            let (world, server) = world(HOST, WRAPPED, ALL);
            xtask_ends(&world, &with(&["bootstrap"])).exits(0);
            (world, server)
        })
        .0
}

/// The same with its artifacts.
fn built() -> &'static World {
    static BUILT: OnceLock<&World> = OnceLock::new();
    BUILT.get_or_init(|| {
        let world = bootstrapped();
        let run = xtask_ends(world, &with(&["build", "--targets", "gfx1100,gfx1201"])).exits(0);
        assert_eq!(run.stdout, "2 artifacts, 2 built\n");
        world
    })
}

pub(crate) fn every_layout_is_installed_and_the_second_run_does_nothing() {
    for layout in LAYOUTS {
        let (world, server) = world(HOST, layout, &["dist"]);
        xtask_ends(&world, &with(&["bootstrap"])).exits(0);
        let requests = server.request_count();
        xtask_ends(&world, &with(&["bootstrap"])).exits(0);
        assert_eq!(server.request_count(), requests, "{layout}: nothing is fetched twice");
        xtask_ends(&world, &with(&["store", "verify"])).exits(0);
    }
}

pub(crate) fn doctor_finds_the_toolchain() {
    let run = xtask_ends(bootstrapped(), &with(&["doctor"]));
    assert!(run.stdout.contains("toolchain t (ROCm 10.0.0)"), "{}{}", run.stdout, run.stderr);
}

fn code_object(root: &Path, host: &str, target: &str) -> PathBuf {
    root.join(format!("artifacts/0.1.0/{host}/engine/{target}/kernels/{target}/engine/rms_norm.co"))
}

/// The bytes without the section in which each compiler writes its own name.
fn without_names(object: &Path) -> Vec<u8> {
    let out = object.with_extension("nameless");
    let output = llvm_program("llvm-objcopy").arg("--remove-section=.comment").arg(object).arg(&out).output();
    let output = output.expect("llvm-objcopy starts");
    assert!(output.status.success(), "{}", text(&output));
    let bytes = std::fs::read(&out).expect("read");
    std::fs::remove_file(out).expect("remove");
    bytes
}

pub(crate) fn code_objects_are_those_of_linux() {
    let world = built();
    let linux = World::new();
    engine(&linux, "[]");
    let lock =
        std::fs::read_to_string(crate::support::workspace_root().join("toolchains.lock")).expect("lock");
    linux.write("toolchains.lock", &lock);
    let store = store().display().to_string();
    linux.run(&["build", "--toolchain", "lite", "--targets", "gfx1100,gfx1201", "--store", &store]).exits(0);
    for target in TARGETS {
        let windows = without_names(&code_object(world.root(), HOST, target));
        let own = without_names(&code_object(linux.root(), "x86_64-unknown-linux-gnu", target));
        assert!(windows == own, "{target}: the code objects differ");
    }
}

pub(crate) fn a_second_build_starts_no_compiler() {
    let run = xtask_ends(built(), &with(&["build", "--targets", "gfx1100,gfx1201"])).exits(0);
    assert_eq!(run.stdout, "2 artifacts, 0 built\n");
}
