//! The release of this workspace, made in two folders of different length below the target directory, where the next run of the tests finds what is
//! built already.

use super::{Run, World, store, workspace_root};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The targets and their ELF flags.
pub(crate) const TARGETS: [(&str, u8); 2] = [("gfx1100", 0x41), ("gfx1201", 0x4e)];

/// A copy of the files that are part of the project, in the folder `name`; files of an earlier copy that are no part of it any more are removed.
fn copy_of_workspace(name: &str) -> World {
    let root = workspace_root();
    let world = World::at(root.join("target/release-test").join(name));
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .expect("git lists the files");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    for folder in ["engine", "aiter-kernels", "crates", "cmake"] {
        // Sources are found by looking into folders, so these hold nothing else.
        let _ = std::fs::remove_dir_all(world.path(folder));
    }
    for file in String::from_utf8(listed.stdout).expect("names").split_terminator('\0') {
        let to = world.path(file);
        std::fs::create_dir_all(to.parent().expect("parent")).expect("folder");
        // A file that was removed and not committed is listed too.
        if root.join(file).is_file() {
            std::fs::copy(root.join(file), to).expect(file);
        }
    }
    world
}

/// Runs the main job in `world`.
pub(crate) fn release(world: &World) -> Run {
    let targets = TARGETS.map(|(target, _)| target).join(",");
    let output = world
        .command(&["release", "--toolchain", "lite", "--targets", &targets, "--store"])
        .arg(store())
        .env("SOURCE_DATE_EPOCH", "1796018324")
        .output()
        .expect("xtask starts");
    world.ended(output).exits(0)
}

/// The release of this workspace, made in two folders of different length.
pub(crate) struct Released {
    pub(crate) first: World,
    pub(crate) second: World,
    /// Target and the folder that its zip was unpacked into, by another program.
    pub(crate) unpacked: Vec<(String, PathBuf)>,
}

const SHORT: &str = "a";
const LONG: &str = "a-folder/with-a/much-longer/path and a space";

/// Made once for all tests.
pub(crate) fn released() -> &'static Released {
    static RELEASED: OnceLock<Released> = OnceLock::new();
    RELEASED.get_or_init(|| {
        let (first, second) = (copy_of_workspace(SHORT), copy_of_workspace(LONG));
        release(&first);
        release(&second);
        let out = first.path("target/unpacked");
        let _ = std::fs::remove_dir_all(&out);
        let script = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";
        let unpack = |(target, _): (&str, u8)| {
            let zip = first.path("dist").join(format!("{}.zip", release_name(target)));
            let status = Command::new("python3").args(["-c", script]).arg(zip).arg(&out).status();
            assert!(status.expect("python3").success());
            (target.to_owned(), out.join(release_name(target)))
        };
        let unpacked = TARGETS.map(unpack).into();
        Released { first, second, unpacked }
    })
}

/// The name of a zip and of the folder in it.
pub(crate) fn release_name(target: &str) -> String {
    format!("strata-{}-x86_64-unknown-linux-gnu-{target}", env!("CARGO_PKG_VERSION"))
}
