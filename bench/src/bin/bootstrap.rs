//! `cargo run --release --package bench --bin bootstrap`: one bootstrap against `curl | tar xz` and `curl; sha256sum; tar xzf`, over a server on this
//! machine. Prints medians of five runs, done side by side, and their ratios. An argument, `large` or `small`, picks one of the two archives.

use bench::{build_xtask, lock, measure, median, serve, workspace, xtask_in};
use conformance::sha256;
use flate2::{Compression, write::GzEncoder};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const RUNS: usize = 5;

fn main() {
    let xtask = build_xtask();
    let material = material(&workspace().join("store"));
    println!(
        "{:<8} {:>10} {:>12} {:>22} {:>7} {:>7} {:>9}",
        "archive", "xtask", "curl|tar", "curl;sha256sum;tar", "ratio", "ratio", "peak"
    );
    let wanted = std::env::args().nth(1);
    for (name, files, size) in [("large", 100, 6_000_000), ("small", 50_000, 14_000)] {
        if wanted.as_ref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        compare(name, &archive(&material, files, size), &xtask);
    }
}

/// Bytes of real programs: the toolchain's own.
fn material(store: &Path) -> Vec<u8> {
    let mut material = Vec::new();
    for entry in std::fs::read_dir(store).expect("a store with the toolchain `lite`").flatten() {
        let library = entry.path().join("tree/usr/lib/x86_64-linux-gnu/libLLVM.so.22.1");
        if let Ok(bytes) = std::fs::read(library) {
            material = bytes;
        }
    }
    assert!(!material.is_empty(), "cargo xtask bootstrap --toolchain lite first");
    material
}

/// `files` files of `size` bytes beside what the layout gate wants.
fn archive(material: &[u8], files: usize, size: usize) -> Arc<Vec<u8>> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut add = |path: &str, content: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, content).expect("append");
    };
    add("include/hip/hip_runtime.h", b"");
    add("include/hip/hip_version.h", b"");
    for index in 0..files {
        let start = index * 1_234_577 % (material.len() - size);
        add(&format!("lib/{}/{index}", index % 200), &material[start..start + size]);
    }
    Arc::new(builder.into_inner().and_then(GzEncoder::finish).expect("finish"))
}

fn compare(name: &str, archive: &Arc<Vec<u8>>, xtask: &Path) {
    let url = serve(archive.clone());
    let hash = sha256(archive);
    let lock = lock(&url, "archive.tar.gz", archive.len(), &hash);
    let (mut ours, mut piped, mut stepped, mut peak) = (vec![], vec![], vec![], 0);
    let (mut second, mut quick, mut deep, mut sums) = (vec![], vec![], vec![], vec![]);
    for _ in 0..RUNS {
        let world = tempfile::tempdir().expect("temp");
        std::fs::write(world.path().join("toolchains.lock"), &lock).expect("write");
        let run = measure(&mut xtask_in(xtask, world.path(), &["bootstrap"]));
        ours.push(run.time);
        peak = peak.max(run.peak);
        let again = |arguments: &[&str]| measure(&mut xtask_in(xtask, world.path(), arguments)).time;
        second.push(again(&["bootstrap"]));
        quick.push(again(&["store", "verify", "--quick"]));
        deep.push(again(&["store", "verify"]));
        let summed = "find store/*/tree -type f -print0 | xargs -0 -n 64 -P \"$(nproc)\" sha256sum";
        sums.push(shell(world.path(), summed));
        make_writable(world.path());

        let world = tempfile::tempdir().expect("temp");
        piped.push(shell(world.path(), &format!("curl -s {url} | tar xz")));
        let world = tempfile::tempdir().expect("temp");
        let line =
            format!("curl -s -o a.tgz {url} && echo '{hash}  a.tgz' | sha256sum -c --quiet && tar xzf a.tgz");
        stepped.push(shell(world.path(), &line));
    }
    let (ours, piped, stepped) = (median(ours), median(piped), median(stepped));
    println!(
        "{name:<8} {:>8.2} s {:>10.2} s {:>20.2} s {:>7.2} {:>7.2} {:>6} MB",
        ours.as_secs_f64(),
        piped.as_secs_f64(),
        stepped.as_secs_f64(),
        ours.as_secs_f64() / piped.as_secs_f64(),
        ours.as_secs_f64() / stepped.as_secs_f64(),
        peak / 1_000_000
    );
    let [second, quick, deep, sums] = [second, quick, deep, sums].map(|times| median(times).as_secs_f64());
    println!(
        "{:<8} second bootstrap {second:.3} s; verify --quick {quick:.3} s; verify {deep:.2} s, sha256sum on all cores {sums:.2} s: {:.2}",
        "",
        deep / sums
    );
}

fn shell(folder: &Path, line: &str) -> std::time::Duration {
    measure(Command::new("sh").args(["-c", line]).current_dir(folder)).time
}

/// Trees of the store are read-only; the temporary folder has to be removed.
fn make_writable(folder: &Path) {
    let status = Command::new("chmod").args(["-R", "u+w"]).arg(folder).status();
    assert!(status.expect("chmod").success());
}
