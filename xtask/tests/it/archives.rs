//! The table of the conformance crate, run against xtask (facts/peers.md 3a and 3b).

use crate::support::{BOOTSTRAP, Fault, Run, Server, World, dist_members, lock, sha256, tar_gz};
use conformance::{Case, Verdict, cases};

/// Offers a row's archive and bootstraps from it.
fn run(server: &Server, case: &Case) -> (World, Run) {
    let url = server.offer_with(case.file, &case.archive, &case.faults);
    let locked = case.locked.as_ref().unwrap_or(&case.archive);
    let lock = lock(&[(&url, &sha256(locked), Some(locked.len()))]).replace("dist.tar.gz", case.file);
    let world = World::with_lock(&lock);
    let mut command = world.command(&BOOTSTRAP);
    command.env("STRATA_STALL_SECONDS", "0.2");
    let run = world.ended(command.output().expect("xtask starts"));
    (world, run)
}

#[test]
fn what_is_bad_is_refused_with_its_reason_and_nothing_is_left() {
    let server = Server::start();
    let mut messages = Vec::new();
    for case in cases().iter().filter(|case| case.verdict == Verdict::Refused) {
        let (world, run) = run(&server, case);
        assert!(matches!(run.code, Some(1..=5)), "{}: {:?} {}", case.name, run.code, run.stderr);
        assert_eq!(world.store(), (vec![], vec![]), "{}", case.name);
        let causes = run.stderr.lines().skip_while(|line| !line.starts_with("caused by: "));
        let reason = causes.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
        let reason = reason.replace("caused by: ", "").replace(server.address(), "[SERVER]");
        messages.push(format!("{} -> {}: {reason}", case.name, run.code.unwrap_or(-1)));
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn what_is_good_is_installed_whatever_the_line_and_the_format() {
    let server = Server::start();
    for case in cases().iter().filter(|case| case.verdict == Verdict::Installed) {
        let (world, run) = run(&server, case);
        assert_eq!(run.code, Some(0), "{}: {}", case.name, run.stderr);
        assert_eq!(world.store().1, Vec::<String>::new(), "{}", case.name);
    }
}

#[test]
fn an_archive_may_not_hold_more_than_the_lock_says() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let url = server.offer("dist.tar.gz", &archive, Fault::None);
    let plain = lock(&[(&url, &sha256(&archive), Some(archive.len()))]);
    for (files, bytes, expected) in [
        (13, 1_000_000_000, "more than 13 members"),
        (1_000, 1_000, "more than 1000 bytes"),
        (1_000, 1_000_000_000, "unpacks to another tree than the lock says"),
    ] {
        let tree = format!(
            "tree = {{ files = {files}, bytes = {bytes}, sha256 = \"{}\" }}\n",
            crate::support::OTHER_HASH
        );
        let world =
            World::with_lock(&plain.replace("channel = \"url\"\n", &format!("channel = \"url\"\n{tree}")));
        let run = world.run(&BOOTSTRAP);
        assert!(run.code != Some(0) && run.stderr.contains(expected), "{expected}: {}", run.stderr);
        assert_eq!(world.store(), (vec![], vec![]));
    }
}
