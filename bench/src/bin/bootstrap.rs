//! `cargo run --release --package bench --bin bootstrap`: one bootstrap against `curl | tar xz` and `curl; sha256sum; tar xzf`, over a server on this
//! machine. Prints medians of five runs, done side by side, and their ratios.

use bench::{build_xtask, measure, median, serve, workspace};
use flate2::{Compression, write::GzEncoder};
use sha2::Digest;
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
    for (name, files, size) in [("large", 100, 6_000_000), ("small", 50_000, 14_000)] {
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
    let hash: String =
        sha2::Sha256::digest(archive.as_slice()).iter().map(|byte| format!("{byte:02x}")).collect();
    let lock = format!(
        "version = 1\n[[toolchain]]\nname = \"t\"\nhost = \"x86_64-unknown-linux-gnu\"\nrocm = \"1\"\ntargets = []\npackages = [\"p\"]\n[[package]]\nname = \"p\"\nversion = \"1\"\nlicense = \"MIT\"\nprovides = [\"hip\"]\n[[package.source]]\nchannel = \"url\"\n[[package.source.archive]]\nurl = \"{url}\"\nsize = {}\nsha256 = \"{hash}\"\n",
        archive.len()
    );
    let (mut ours, mut piped, mut stepped, mut peak) = (vec![], vec![], vec![], 0);
    for _ in 0..RUNS {
        let world = tempfile::tempdir().expect("temp");
        std::fs::write(world.path().join("toolchains.lock"), &lock).expect("write");
        let run = measure(
            Command::new(xtask)
                .args(["--quiet", "bootstrap", "--toolchain", "t"])
                .current_dir(world.path())
                .env_remove("CARGO_MANIFEST_DIR"),
        );
        ours.push(run.time);
        peak = peak.max(run.peak);
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
}

fn shell(folder: &Path, line: &str) -> std::time::Duration {
    measure(Command::new("sh").args(["-c", line]).current_dir(folder)).time
}

/// Trees of the store are read-only; the temporary folder has to be removed.
fn make_writable(folder: &Path) {
    let status = Command::new("chmod").args(["-R", "u+w"]).arg(folder).status();
    assert!(status.expect("chmod").success());
}
