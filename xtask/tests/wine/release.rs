//! A Windows release that is made on Linux, by xtask as it runs here; Wine only starts what is in it.

use crate::built::HOST;
use crate::support::{World, store, workspace_root};
use crate::wine::{command, text};
use std::process::Command;

/// This workspace with the engine as its only component and strata-device as its only program: the others take minutes and are not different here.
fn copy() -> World {
    let world = World::at(workspace_root().join("target/wine/workspace"));
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(workspace_root())
        .output()
        .expect("git lists the files");
    for name in String::from_utf8(listed.stdout).expect("names").split_terminator('\0') {
        let from = workspace_root().join(name);
        if from.is_file() {
            let to = world.path(name);
            std::fs::create_dir_all(to.parent().expect("a folder")).expect("folder");
            std::fs::copy(&from, &to).expect("copy");
        }
    }
    let change = |file: &str, changes: &[(&str, &str)]| {
        let text = std::fs::read_to_string(world.path(file)).expect(file);
        let changed = changes.iter().fold(text, |text, (from, to)| {
            assert!(text.contains(from), "{file} has no `{from}`");
            text.replace(from, to)
        });
        world.write(file, &changed);
    };
    change("aiter-kernels/Cargo.toml", &[("[package.metadata.component]", "[package.metadata.other]")]);
    let small = [
        ("binaries = [\"strata\", \"strata-device\", \"strata-vision\"]", "binaries = [\"strata-device\"]"),
        ("default = [\"models\"]", "default = []"),
    ];
    change("engine/Cargo.toml", &small);
    let _ = std::fs::remove_dir_all(world.path("dist"));
    world
}

fn xtask(world: &World, command: &str) {
    let output = world
        .command(&[command, "--toolchain", "lite", "--targets", "gfx1201", "--host", HOST, "--store"])
        .arg(store())
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .expect("xtask starts");
    world.ended(output).exits(0);
}

pub(crate) fn a_windows_release_is_packed_on_linux_and_starts() {
    let world = copy();
    xtask(&world, "build");
    xtask(&world, "dist");
    let name = format!("strata-{}-{HOST}-gfx1201", env!("CARGO_PKG_VERSION"));
    let zip = world.path("dist").join(format!("{name}.zip"));
    world.run(&["verify", &zip.display().to_string()]).exits(0);
    let out = world.path("dist/unpacked");
    let script = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";
    let unpacked = Command::new("python3").args(["-c", script]).arg(&zip).arg(&out).status();
    assert!(unpacked.expect("python3").success());
    let program = out.join(&name).join("strata-device.exe");
    let output = command(&program).arg("--selftest").output().expect("Wine starts");
    assert_eq!(output.status.code(), Some(6), "{}", text(&output));
}
