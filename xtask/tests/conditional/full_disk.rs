//! A disk that is too small.

use crate::support::{Fault, Member, Server, World, dist_members, lock, sha256, tar_gz};
use std::path::Path;
use std::process::Command;

/// Mounts a file system of 1 MiB in `folder`.
fn mount(folder: &Path) -> bool {
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(folder).output();
    mounted.is_ok_and(|output| output.status.success())
}

fn unmount(folder: &Path) -> bool {
    Command::new("umount").arg(folder).status().is_ok_and(|status| status.success())
}

/// Why the check cannot run here, if it cannot.
pub(crate) fn missing() -> Option<String> {
    let folder = tempfile::tempdir().expect("temp");
    let may = mount(folder.path()) && unmount(folder.path());
    (!may).then(|| "this user may not mount a small file system".to_owned())
}

/// Another exit code than for other failures, and nothing is left.
pub(crate) fn a_full_disk_has_its_own_exit_code_and_leaves_nothing() {
    let server = Server::start();
    let mut members = dist_members();
    members.push(Member::File("big".into(), vec![0; 4 << 20]));
    let archive = tar_gz("", &members);
    let url = server.offer("dist.tar.gz", &archive, Fault::None);
    // No size, so that the preflight cannot know.
    let world = World::with_lock(&lock(&[(&url, &sha256(&archive), None)]));
    let small = world.path("small");
    std::fs::create_dir(&small).expect("folder");
    assert!(mount(&small));
    let run = world.run(&["bootstrap", "--toolchain", "t", "--store", "small"]);
    let left = std::fs::read_dir(small.join("staging")).map_or(0, Iterator::count);
    assert!(unmount(&small));
    let run = run.exits(5);
    assert!(run.stderr.contains("No space left on device"), "{}", run.stderr);
    assert_eq!(left, 0);

    // What makes room again needs none.
    assert!(mount(&small));
    let entry = small.join("0123456789abcdef");
    std::fs::create_dir(&entry).expect("folder");
    let full = std::fs::write(entry.join("filler"), vec![0; 2 << 20]).expect_err("the disk is too small");
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let run = world.run(&["store", "gc", "--store", "small"]);
    let is_gone = !entry.exists();
    assert!(unmount(&small));
    run.exits(0);
    assert!(is_gone);
}
