//! The main job on Windows: bootstrap, doctor, build, a second build, dist, verify, and the release's own self-test.

use crate::built::HOST;
use crate::support::{Server, World, store};
use crate::wine::{command, text, unzip};
use crate::world::{ALL, LAYOUTS, WRAPPED, engine, llvm_program, world, xtask_ends};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub(crate) const TOOLCHAIN: [&str; 2] = ["--toolchain", "t"];
const TARGETS: [&str; 2] = ["gfx1100", "gfx1201"];

pub(crate) fn with(command: &[&'static str]) -> Vec<&'static str> {
    [command, &TOOLCHAIN].concat()
}

/// A bootstrapped workspace.
pub(crate) fn bootstrapped() -> &'static World {
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
pub(crate) fn built() -> &'static World {
    static BUILT: OnceLock<&World> = OnceLock::new();
    BUILT.get_or_init(|| {
        let world = bootstrapped();
        let run = xtask_ends(world, &with(&["build", "--targets", "gfx1100,gfx1201"])).exits(0);
        assert_eq!(run.stdout, "2 artifacts, 2 built\n");
        world
    })
}

/// The same with its releases, unpacked by another program.
fn unpacked() -> &'static PathBuf {
    static UNPACKED: OnceLock<PathBuf> = OnceLock::new();
    UNPACKED.get_or_init(|| {
        let world = built();
        xtask_ends(world, &with(&["dist", "--targets", "gfx1100,gfx1201"])).exits(0);
        let out = world.path("target/unpacked");
        unzip(&world.path("dist").join(format!("{}.zip", name("gfx1201"))), &out);
        out.join(name("gfx1201"))
    })
}

fn name(target: &str) -> String {
    format!("strata-{}-x86_64-pc-windows-gnu-{target}", env!("CARGO_PKG_VERSION"))
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

const KERNELS: [&str; 4] = ["matrix", "rms_norm", "rows", "vector"];

pub(crate) fn code_object(root: &Path, host: &str, target: &str, kernel: &str) -> PathBuf {
    root.join(format!("artifacts/0.1.0/{host}/engine/{target}/kernels/{target}/engine/{kernel}.co"))
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
    for (target, kernel) in TARGETS.iter().flat_map(|target| KERNELS.map(|kernel| (target, kernel))) {
        let windows = without_names(&code_object(world.root(), HOST, target, kernel));
        let own = without_names(&code_object(linux.root(), "x86_64-unknown-linux-gnu", target, kernel));
        assert!(windows == own, "{kernel} for {target}: the code objects differ");
    }
}

pub(crate) fn a_second_build_starts_no_compiler() {
    let run = xtask_ends(built(), &with(&["build", "--targets", "gfx1100,gfx1201"])).exits(0);
    assert_eq!(run.stdout, "2 artifacts, 0 built\n");
}

pub(crate) fn the_release_is_verified_and_its_self_test_passes() {
    let release = unpacked();
    let world = built();
    let zip = format!("dist/{}.zip", name("gfx1201"));
    xtask_ends(world, &["verify", &zip]).exits(0);
    assert!(release.join("amdhip64_7.dll").is_file(), "beside the programs, not in System32's shadow");
    let program = release.join("strata-device.exe");
    let output = command(&program).arg("--selftest").current_dir(release).output().expect("Wine starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("AMD Radeon RX 9070 XT"), "{}", text(&output));
}
