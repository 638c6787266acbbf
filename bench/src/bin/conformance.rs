//! `cargo run --package bench --bin conformance`: the table of the conformance crate against xtask and against what people type, as a score.
//!
//! A row counts when the verdict is right: what is bad ends with an error and leaves nothing under the final name, what is good is there whole.

use bench::{build_xtask, lock, xtask_in};
use conformance::{Case, Member, Server, Verdict, cases, dist_members, sha256};
use std::path::Path;
use std::process::{Command, Stdio};

/// The rivals, by what is typed.
const PIPE: &str = "curl -fsSL --retry 3 --retry-delay 0 URL | UNPACK";
const STEPS: &str = "curl -fsSL --retry 3 --retry-delay 0 -o FILE URL && echo 'HASH  FILE' | sha256sum -c --quiet && UNPACK < FILE && rm FILE";
/// What hangs is not right.
const PATIENCE: &str = "10";

fn main() {
    let xtask = build_xtask();
    let server = Server::start();
    let cases = cases();
    let mut scores = [0; 3];
    println!("{:<56} {:>4}  {:<8} {:<8} curl; sha256sum; tar", "", "row", "xtask", "curl | tar");
    for case in &cases {
        let results = [
            with_xtask(&server, case, &xtask),
            with_shell(&server, case, PIPE),
            with_shell(&server, case, STEPS),
        ];
        results.iter().zip(&mut scores).for_each(|(right, score)| *score += usize::from(*right));
        let words = results.map(|right| if right { "right" } else { "WRONG" });
        println!("{:<56} {:>4}  {:<8} {:<10} {}", case.name, case.row, words[0], words[1], words[2]);
    }
    let total = cases.len();
    println!(
        "{:<56} {:>4}  {}/{total}    {}/{total}      {}/{total}",
        "score", "", scores[0], scores[1], scores[2]
    );
}

fn locked(case: &Case) -> &[u8] {
    case.locked.as_deref().unwrap_or(&case.archive)
}

fn with_xtask(server: &Server, case: &Case, xtask: &Path) -> bool {
    let url = server.offer_with(case.file, &case.archive, &case.faults);
    let folder = tempfile::tempdir().expect("temp");
    let locked = locked(case);
    let lock = lock(&url, case.file, locked.len(), &sha256(locked));
    std::fs::write(folder.path().join("toolchains.lock"), lock).expect("write");
    let status = xtask_in(xtask, folder.path(), &["bootstrap"])
        .envs([("STRATA_RETRY_SCALE", "0.001"), ("STRATA_STALL_SECONDS", "0.5")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let succeeded = status.expect("xtask starts").success();
    let entries: Vec<_> = std::fs::read_dir(folder.path().join("store"))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().len() == 16)
        .collect();
    let right = match case.verdict {
        Verdict::Refused => !succeeded && entries.is_empty(),
        Verdict::Installed => succeeded && entries.len() == 1 && is_whole(&entries[0].path().join("tree")),
    };
    // Trees of the store are read-only.
    let _ = Command::new("chmod").args(["-R", "u+w"]).arg(folder.path()).status();
    right
}

/// The rival unpacks into a folder of the final name, as people do.
fn with_shell(server: &Server, case: &Case, line: &str) -> bool {
    let url = server.offer_with(case.file, &case.archive, &case.faults);
    let unpack = match case.file {
        "dist.tar.xz" => "tar xJ",
        "dist.tar.zst" => "tar x --zstd",
        "dist.zip" => "{ cat > z && unzip -q z && rm z; }",
        "dist.deb" => "{ cat > d && dpkg-deb --extract d . && rm d; }",
        _ => "tar xz",
    };
    let line = line
        .replace("URL", &url)
        .replace("FILE", case.file)
        .replace("UNPACK", unpack)
        .replace("HASH", &sha256(locked(case)));
    let folder = tempfile::tempdir().expect("temp");
    let dist = folder.path().join("dist");
    std::fs::create_dir(&dist).expect("folder");
    let status = Command::new("timeout")
        .args([PATIENCE, "bash", "-o", "pipefail", "-c", &line])
        .current_dir(&dist)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let succeeded = status.expect("bash starts").success();
    let is_empty = std::fs::read_dir(&dist).expect("list").next().is_none();
    match case.verdict {
        Verdict::Refused => !succeeded && is_empty,
        Verdict::Installed => succeeded && is_whole(&dist),
    }
}

/// Whether every member of the good tree is there with its content.
fn is_whole(tree: &Path) -> bool {
    dist_members().iter().all(|member| match member {
        Member::File(path, content) => std::fs::read(tree.join(path)).is_ok_and(|found| found == *content),
        Member::Link(path, target) => {
            std::fs::read_link(tree.join(path)).is_ok_and(|found| found == Path::new(target))
        }
    })
}
