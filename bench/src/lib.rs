//! What the measurements share: a plain server on this machine, medians, and the peak memory of a child.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Serves `body` under every path until the process ends, and gives its address.
///
/// # Panics
/// When no port is free.
pub fn serve(body: Arc<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("http://{}/archive.tar.gz", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let body = body.clone();
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().expect("clone"));
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                    line.clear();
                }
                let head =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                // A client that went away ends its own measurement.
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
            });
        }
    });
    address
}

/// Builds xtask as `cargo xtask` does and gives its path.
///
/// # Panics
/// When cargo fails.
pub fn build_xtask() -> PathBuf {
    let root = workspace();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--package", "xtask"]).current_dir(&root).status();
    assert!(built.expect("cargo starts").success());
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), PathBuf::from)
        .join("debug/xtask")
}

/// The workspace's root.
///
/// # Panics
/// Never: this package lies in it.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// The workspace's store, or the one that `STRATA_STORE` names.
pub fn store() -> PathBuf {
    std::env::var_os("STRATA_STORE").map_or_else(|| workspace().join("store"), PathBuf::from)
}

/// A lock whose toolchain `t` is one archive at `url` with the HIP headers in it.
pub fn lock(url: &str, file: &str, size: usize, sha256: &str) -> String {
    format!(
        "version = 1\n[[toolchain]]\nname = \"t\"\nhost = \"x86_64-unknown-linux-gnu\"\nrocm = \"1\"\ntargets = []\npackages = [\"dist\"]\n[[package]]\nname = \"dist\"\nversion = \"10.0.0\"\nlicense = \"MIT\"\nprovides = [\"hip\"]\n[[package.source]]\nchannel = \"url\"\n[[package.source.archive]]\nurl = \"{url}\"\nfile = \"{file}\"\nsize = {size}\nsha256 = \"{sha256}\"\n"
    )
}

/// xtask in `folder`, which holds a [`lock`], quiet.
pub fn xtask_in(xtask: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(xtask);
    command.args(["--quiet", "--toolchain", "t"]).args(arguments).current_dir(folder);
    // cargo's, of the workspace that this is run from.
    command.env_remove("CARGO_MANIFEST_DIR");
    command
}

/// How long a command took and how much memory it had at most.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Wall time.
    pub time: Duration,
    /// Peak resident memory in bytes, as /proc told while it ran; 0 when it was too fast to be seen.
    pub peak: u64,
}

/// Runs `command` to its end.
///
/// # Panics
/// When it cannot start or fails.
pub fn measure(command: &mut Command) -> Measured {
    let start = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut peak = 0;
    let status = loop {
        peak = peak.max(peak_of(&child));
        match child.try_wait().expect("waits") {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let time = start.elapsed();
    if !status.success() {
        let mut words = String::new();
        let _ = child.stderr.map(|mut stderr| std::io::Read::read_to_string(&mut stderr, &mut words));
        panic!("{command:?}: {words}");
    }
    Measured { time, peak }
}

fn peak_of(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
}

/// The middle of `values`.
///
/// # Panics
/// When there are none, or one is no number.
pub fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> T {
    values.sort_by(|one, other| one.partial_cmp(other).expect("numbers"));
    values[values.len() / 2]
}
