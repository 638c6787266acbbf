//! A workspace anywhere, and an environment of any size.

use crate::support::{World, component_world, store};

/// Names that shells and batch files take apart.
const NAME: &str = "a b & c ^ d % e (f) ü 漢";

fn moved(name: &str) -> (World, tempfile::TempDir) {
    let world = component_world();
    let temporary = tempfile::tempdir().expect("temp");
    let folder = temporary.path().join(name);
    std::fs::create_dir_all(folder.parent().expect("parent")).expect("folder");
    let status = std::process::Command::new("cp").arg("-r").args([world.root(), &folder]).status();
    assert!(status.expect("cp").success());
    (World::at(folder), temporary)
}

fn build(world: &World, path: &str) -> String {
    let mut command = world.command(&["build", "--toolchain", "lite", "--targets", "gfx1100,gfx1102"]);
    command.arg("--store").arg(store()).env("PATH", path);
    let run = world.ended(command.output().expect("xtask starts")).exits(0);
    let object = "artifacts/0.1.0/x86_64-unknown-linux-gnu/scale/gfx1102/kernels/gfx1102/scale/scale.co";
    let manifest = "artifacts/0.1.0/x86_64-unknown-linux-gnu/scale/gfx1102/BUILD.json";
    assert_eq!(run.stdout, "2 artifacts, 2 built\n");
    crate::support::sha256(&std::fs::read(world.path(object)).expect("the code object"))
        + &std::fs::read_to_string(world.path(manifest)).expect("BUILD.json")
}

#[test]
fn paths_that_are_no_text_and_times_that_are_none_are_borne() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let odd = world.root().join(std::ffi::OsStr::from_bytes(b"st\xffre"));
    let mut command = world.command(&["store", "path", "--format", "json", "--store"]);
    let run = world.ended(command.arg(odd).output().expect("xtask")).exits(0);
    assert!(run.stdout.contains("st\u{fffd}re"), "{}", run.stdout);
    let world = World::with_lock(
        "version = 1\n[[toolchain]]\nname = \"t\"\nhost = \"x86_64-unknown-linux-gnu\"\nrocm = \"1\"\ntargets = []\npackages = []\n",
    );
    for value in ["-1", "nan", "inf", "1e300", "x"] {
        let mut command = world.command(&["bootstrap", "--toolchain", "t"]);
        command.env("STRATA_STALL_SECONDS", value).env("STRATA_RETRY_SCALE", value);
        world.ended(command.output().expect("xtask")).exits(0);
    }
}

#[test]
fn any_folder_and_a_path_of_9000_characters_give_the_same_kernels() {
    let path = std::env::var("PATH").expect("PATH");
    let plain = build(&component_world(), &path);
    let (odd, _kept) = moved(NAME);
    let long_path = format!("{path}{}", ":/nowhere/that/is".repeat(9_000 / 17 + 1));
    assert!(long_path.len() > 9_000);
    assert_eq!(build(&odd, &long_path), plain);

    let root = std::env::temp_dir().display().to_string().len() + "/.tmpABCDEF/".len();
    let (deep, _kept) = moved(&format!("{}/{}", "d".repeat(120), "e".repeat(250 - root - 121)));
    assert_eq!(deep.root().display().to_string().len(), 250);
    assert_eq!(build(&deep, &path), plain);
}
