//! The release of this workspace, made twice by `dist --check` in folders of different length below the target directory, where the next run of the
//! tests finds what is built already.

use super::{Run, World, store, workspace_root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The targets and their ELF flags.
pub(crate) const TARGETS: [(&str, u8); 2] = [("gfx1100", 0x41), ("gfx1201", 0x4e)];

/// Runs the main job in `world`.
pub(crate) fn release(world: &World) -> Run {
    let targets = TARGETS.map(|(target, _)| target).join(",");
    let output = world
        .command(&["release", "--toolchain", "lite", "--targets", &targets, "--store"])
        .arg(store())
        .env("SOURCE_DATE_EPOCH", EPOCH)
        .output()
        .expect("xtask starts");
    world.ended(output).exits(0)
}

/// Builds and packs `world` twice below `work` and compares.
fn check(world: &World, work: &Path) {
    let targets = TARGETS.map(|(target, _)| target).join(",");
    let output = world
        .command(&["dist", "--check", "--toolchain", "lite", "--targets", &targets, "--store"])
        .arg(store())
        .arg("--check-in")
        .arg(work)
        .env("SOURCE_DATE_EPOCH", EPOCH)
        .output()
        .expect("xtask starts");
    world.ended(output).exits(0);
}

/// The release of this workspace, made in two folders of different length.
pub(crate) struct Released {
    pub(crate) first: World,
    pub(crate) second: World,
    /// Target and the folder that its zip was unpacked into, by another program.
    pub(crate) unpacked: Vec<(String, PathBuf)>,
}

/// Another day than any on which this is run: the day of the build would be found in an output.
const EPOCH: &str = "1700000000";
/// As `dist --check` names its copies.
const SHORT: &str = "a";
const LONG: &str = "a-folder/with-a/much-longer/path and a space";

/// Made once for all tests.
pub(crate) fn released() -> &'static Released {
    static RELEASED: OnceLock<Released> = OnceLock::new();
    RELEASED.get_or_init(|| {
        let work = workspace_root().join("target/release-test");
        check(&World::at(workspace_root()), &work);
        let (first, second) = (World::at(work.join(SHORT)), World::at(work.join(LONG)));
        let out = first.path("target/unpacked");
        let _ = std::fs::remove_dir_all(&out);
        let script = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";
        let unpack = |(target, _): (&str, u8)| {
            let zip = first.path("dist").join(format!("{}.zip", release_name(target)));
            let status = Command::new("python3").args(["-c", script]).arg(zip).arg(&out).status();
            assert!(status.expect("python3").success());
            let folder = out.join(release_name(target));
            // Python's zipfile forgets modes.
            let programs = ["strata", "strata-device"].map(|program| folder.join(program));
            assert!(Command::new("chmod").arg("+x").args(programs).status().expect("chmod").success());
            (target.to_owned(), folder)
        };
        let unpacked = TARGETS.map(unpack).into();
        Released { first, second, unpacked }
    })
}

/// The name of a zip and of the folder in it.
pub(crate) fn release_name(target: &str) -> String {
    format!("strata-{}-x86_64-unknown-linux-gnu-{target}", env!("CARGO_PKG_VERSION"))
}
