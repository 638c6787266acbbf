//! `cargo run --release --package bench --bin dist [FOLDER]`: the release's zip writer against `zip -6` on the same files; and its tar.zst.
//! FOLDER is what is packed: the LLVM of the toolchain `lite` when none is given, whose libraries are what a release is mostly made of. Prints medians
//! of five runs, done side by side, and their ratios.

use archive::{Content, Member, Timestamp, write_tar_zst, write_zip};
use bench::{measure, median, store};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const RUNS: usize = 5;
const TIME: Timestamp = Timestamp(1_796_018_324);

fn main() {
    let folder = std::env::args_os().nth(1).map_or_else(llvm, PathBuf::from);
    let members = members(&folder);
    let bytes: u64 = members.iter().map(|member| member.content.size()).sum();
    println!("{} files, {} MB, {} cores", members.len(), bytes / 1_000_000, cores());
    let out = tempfile::tempdir().expect("temp");
    let (ours, theirs, tar) =
        (out.path().join("ours.zip"), out.path().join("theirs.zip"), out.path().join("ours.tar.zst"));
    let (mut zip_times, mut rival_times, mut tar_times) = (vec![], vec![], vec![]);
    for _ in 0..RUNS {
        zip_times.push(timed(|| write_zip(&members, TIME, BufWriter::new(create(&ours))).expect("zip")));
        let _ = std::fs::remove_file(&theirs);
        // `-D` and `-X`: no folders and no extra fields, as in ours.
        let mut rival = Command::new("zip");
        rival.args(["-6", "-q", "-r", "-D", "-X"]).arg(&theirs).arg(".").current_dir(&folder);
        rival_times.push(measure(&mut rival).time);
        tar_times
            .push(timed(|| write_tar_zst(&members, TIME, BufWriter::new(create(&tar))).expect("tar.zst")));
    }
    let (rival, rival_size) = (median(rival_times), size(&theirs));
    println!("{:<10} {:>9} {:>12} {:>11} {:>11}", "", "time", "bytes", "times as", "size");
    println!(
        "{:<10} {:>7.2} s {rival_size:>12} {:>11} {:>11}",
        "zip -6",
        rival.as_secs_f64(),
        "fast",
        "of zip -6"
    );
    for (name, time, path) in [("zip", median(zip_times), &ours), ("tar.zst", median(tar_times), &tar)] {
        println!(
            "{name:<10} {:>7.2} s {:>12} {:>11.2} {:>10.2}%",
            time.as_secs_f64(),
            size(path),
            rival.as_secs_f64() / time.as_secs_f64(),
            100.0 * size(path) as f64 / rival_size as f64
        );
    }
}

fn llvm() -> PathBuf {
    let trees = std::fs::read_dir(store()).expect("a store with the toolchain `lite`").flatten();
    let mut folders = trees.map(|entry| entry.path().join("tree/usr/lib/llvm-22"));
    folders.find(|folder| folder.is_dir()).expect("cargo xtask bootstrap --toolchain lite first")
}

/// Every regular file below `folder`, sorted.
fn members(folder: &Path) -> Vec<Member> {
    let (mut members, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder_of_it) = open.pop() {
        for entry in std::fs::read_dir(&folder_of_it).expect("reads").flatten() {
            let path = entry.path();
            // zip follows links too.
            let meta = std::fs::metadata(&path).expect("exists");
            if meta.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below").to_string_lossy().into_owned();
                members.push(Member {
                    name,
                    content: Content::File { path, size: meta.len() },
                    executable: false,
                });
            }
        }
    }
    members.sort_by(|a, b| a.name.cmp(&b.name));
    members
}

fn create(path: &Path) -> File {
    File::create(path).expect("creates")
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).expect("written").len()
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
