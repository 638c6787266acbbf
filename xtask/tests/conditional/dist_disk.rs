//! Releases on a disk that is full, or that may not be written.

use crate::support::{names, rocm_world};
use std::path::Path;
use std::process::Command;

fn mount(folder: &Path, options: &str) -> bool {
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(folder).output();
    mounted.is_ok_and(|output| output.status.success())
}

fn unmount(folder: &Path) -> bool {
    Command::new("umount").arg(folder).status().is_ok_and(|status| status.success())
}

/// No zip, no name, and the system's own reason.
pub(crate) fn a_full_or_read_only_disk_leaves_no_zip() {
    let world = rocm_world();
    for (options, code, words) in
        [("size=8k", 5, "No space left on device"), ("ro", 1, "Read-only file system")]
    {
        let out = world.path("small");
        let _ = std::fs::create_dir(&out);
        assert!(mount(&out, options));
        // The world lies among the temporary files, and the small disk must not be taken for theirs.
        let mut command =
            world.command(&["dist", "--toolchain", "t", "--targets", "gfx1201", "--out", "small"]);
        command.env("SOURCE_DATE_EPOCH", "1700000000").env("TMPDIR", env!("CARGO_TARGET_TMPDIR"));
        let run = world.ended(command.output().expect("xtask starts"));
        let left = names(&out);
        assert!(unmount(&out));
        let run = run.exits(code);
        assert!(run.stderr.contains(words), "{}", run.stderr);
        assert!(run.stderr.contains("--out DIR"), "{}", run.stderr);
        assert_eq!(left, Vec::<String>::new());
    }
}
