//! `cargo run --package bench --bin sharing [TARGET,TARGET…]`: processor time of the kernels of `aiter-kernels` for several targets in one
//! go, which share work, against a compile of every source for every target, which is what a compiler with several `--offload-arch`
//! does. All ten exact targets when none are given: about an hour and a half of processor time. In a fresh clone of the commit that is checked
//! out, with the toolchain `lite` of the workspace's store; the library of the component is built before.

use bench::{build_xtask, store, workspace};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const ALL: &str = "gfx1100,gfx1101,gfx1102,gfx1103,gfx1150,gfx1151,gfx1152,gfx1153,gfx1200,gfx1201";

fn main() {
    let targets = std::env::args().nth(1).unwrap_or_else(|| ALL.to_owned());
    let (first, number) = (targets.split(',').next().expect("a target"), targets.split(',').count());
    let xtask = build_xtask();
    let folder = tempfile::tempdir().expect("temp");
    let clone = folder.path().join("clone");
    run(Command::new("git").args(["clone", "--quiet"]).arg(workspace()).arg(&clone));
    build(&xtask, &clone, &["--targets", first]); // the library, and the caches of the disk

    let alone = build(&xtask, &clone, &["--targets", first]);
    let shared = build(&xtask, &clone, &["--targets", &targets]);
    let rival = build(&xtask, &clone, &["--targets", &targets, "--no-sharing"]);
    println!("{:<36}{:>16}", "", "processor time");
    for (name, time) in [
        (format!("{first} alone"), alone),
        (format!("{number} targets in one go"), shared),
        (format!("{number} targets, each on its own"), rival),
    ] {
        println!("{name:<36}{:>12.1} min", time.as_secs_f64() / 60.0);
    }
    println!("in one go to each on its own: {:.2}", shared.as_secs_f64() / rival.as_secs_f64());
}

/// Processor time of a build of every kernel.
fn build(xtask: &Path, clone: &Path, arguments: &[&str]) -> Duration {
    for kept in ["artifacts", "target/xtask/x86_64-unknown-linux-gnu"] {
        let _ = std::fs::remove_dir_all(clone.join(kept)); // not there the first time
    }
    let mut command = Command::new(xtask);
    command.args(["--quiet", "build", "--toolchain", "lite", "--component", "aiter-kernels"]).args(arguments);
    command.current_dir(clone).env_remove("CARGO_MANIFEST_DIR").env("STRATA_STORE", store());
    let before = children_time();
    run(&mut command);
    children_time() - before
}

fn run(command: &mut Command) {
    assert!(command.status().expect("starts").success(), "{command:?}");
}

/// Processor time of all processes that this one has waited for, and of theirs: proc(5), `cutime` and `cstime` of stat, in hundredths of a second.
fn children_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    // The second field is a name in brackets, which may hold spaces.
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    let ticks =
        fields.split_whitespace().skip(13).take(2).map(|field| field.parse::<u64>().expect("a number"));
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
