//! Downloads over bad lines: what is kept, what is asked for again, and when it is given up (facts/peers.md 3a).

use crate::support::{
    BOOTSTRAP, Fault, Server, World, dist_members, large_tar_gz, lock, lock_of, sha256, tar_gz, wait_until,
};

/// A chunk that may be on its way when the line breaks, and what the sockets hold.
const IN_FLIGHT: u64 = 8 << 20;

#[test]
fn a_broken_line_is_continued_in_the_same_run() {
    let server = Server::start();
    let archive = large_tar_gz(4);
    let third = archive.len() / 3;
    let url = server.offer_with(
        "dist.tar.gz",
        &archive,
        &[Fault::Cut(third), Fault::Cut(third), Fault::Status(503)],
    );
    let world = World::with_lock(&lock(&[(&url, &sha256(&archive), Some(archive.len()))]));
    let run = world.run(&BOOTSTRAP).exits(0);
    assert_eq!(server.sent(), archive.len() as u64, "no byte twice");
    let requests = server.requests();
    assert!(requests[1].to_lowercase().contains(&format!("range: bytes={third}-")), "{}", requests[1]);
    assert!(requests[1].to_lowercase().contains("if-range: \""), "{}", requests[1]);
    assert!(run.stderr.contains("try 1 of 5 in "), "each wait is said: {}", run.stderr);
    assert_eq!(world.partials(), Vec::<String>::new());
}

#[test]
fn a_killed_download_is_continued_in_the_next_run() {
    let server = Server::start();
    let archive = large_tar_gz(16);
    let url = server.offer_with("dist.tar.gz", &archive, &[Fault::Stall(archive.len() * 3 / 4)]);
    let world = World::with_lock(&lock(&[(&url, &sha256(&archive), Some(archive.len()))]));
    let mut child = world.start(&BOOTSTRAP);
    server.wait_for_stall();
    child.kill().expect("kill");
    child.wait().expect("xtask ends");
    world.run(&BOOTSTRAP).exits(0);
    let wire = server.sent();
    assert!(wire < archive.len() as u64 + IN_FLIGHT, "{wire} bytes for {}", archive.len());
    assert_eq!(server.request_count(), 2);
}

#[test]
fn a_server_without_ranges_starts_anew_and_nothing_is_appended() {
    let server = Server::start();
    let archive = large_tar_gz(1);
    let half = archive.len() / 2;
    // In the same run, and in the next one.
    for faults in [vec![Fault::Cut(half), Fault::IgnoreRange], vec![Fault::Cut(half), Fault::EarlyRange(7)]] {
        let url = server.offer_with("dist.tar.gz", &archive, &faults);
        World::with_lock(&lock(&[(&url, &sha256(&archive), Some(archive.len()))])).run(&BOOTSTRAP).exits(0);
    }
    let url = server.offer("dist.tar.gz", &archive, Fault::IgnoreRange);
    let world = World::with_lock(&lock(&[(&url, &sha256(&archive), Some(archive.len()))]));
    world.keep_partial(&sha256(&archive), b"bytes of something else");
    world.run(&BOOTSTRAP).exits(0);
}

#[test]
fn kept_bytes_that_are_wrong_cost_one_more_download_and_no_more() {
    let server = Server::start();
    let archive = large_tar_gz(1);
    let (hash, size) = (sha256(&archive), archive.len());
    let url = server.offer_with("dist.tar.gz", &archive, &[]);
    let mut wrong = archive[..1000].to_vec();
    wrong[500] ^= 1;
    for kept in [wrong, vec![0; size], vec![0; size + 1]] {
        let world = World::with_lock(&lock(&[(&url, &hash, Some(size))]));
        world.keep_partial(&hash, &kept);
        world.run(&BOOTSTRAP).exits(0);
        assert_eq!(world.partials(), Vec::<String>::new());
    }
}

#[test]
fn a_file_that_changed_upstream_is_not_glued_together() {
    let server = Server::start();
    let (old, new) = (large_tar_gz(1), large_tar_gz(2));
    let url = server.offer_with("dist.tar.gz", &old, &[Fault::Stall(old.len() / 2)]);
    let world = World::with_lock(&lock(&[(&url, &sha256(&new), None)]));
    let mut child = world.start(&BOOTSTRAP);
    server.wait_for_stall();
    let part = world.path(&format!("store/partials/{}.part", &sha256(&new)[..16]));
    wait_until("some bytes are kept", || std::fs::metadata(&part).is_ok_and(|meta| meta.len() > 0));
    child.kill().expect("kill");
    child.wait().expect("xtask ends");
    server.offer_with("dist.tar.gz", &new, &[]);
    world.run(&BOOTSTRAP).exits(0);
    assert!(server.requests().last().expect("a request").to_lowercase().contains("if-range: "));
}

#[test]
fn an_archive_of_unknown_size_that_came_whole_is_not_fetched_again() {
    // Its tree is refused, so that the bytes are kept.
    let server = Server::start();
    let archive = tar_gz("", &dist_members()[..5]);
    let url = server.offer("dist.tar.gz", &archive, Fault::None);
    let world = World::with_lock(&lock(&[(&url, &sha256(&archive), None)]));
    world.run(&BOOTSTRAP).exits(1);
    let offline = world.run(&["bootstrap", "--toolchain", "t", "--offline"]).exits(1);
    assert!(!offline.stderr.contains("are missing"), "{}", offline.stderr);
    assert_eq!(server.request_count(), 1, "the second run had the bytes");

    // Beside one that is missing: the server says that there is nothing behind what is kept.
    let (first, second) = (large_tar_gz(1), tar_gz("more/", &dist_members()[..1]));
    let hashes = [sha256(&first), sha256(&second)];
    let url = server.offer("first.tar.gz", &first, Fault::None);
    let mut lock = lock(&[(&url, &hashes[0], None)]);
    let url = server.offer("second.tar.gz", &second, Fault::None);
    lock += &format!(
        "\n[[package.source.archive]]\nurl = \"{url}\"\nfile = \"second.tar.gz\"\nsha256 = \"{}\"\n",
        hashes[1]
    );
    let world = World::with_lock(&lock);
    world.keep_partial(&hashes[0], &first);
    let before = server.sent();
    world.run(&BOOTSTRAP).exits(0);
    assert_eq!(server.sent() - before, second.len() as u64, "one body was sent");

    // As many bytes, and others: the hash decides, and they are fetched again.
    let world = World::with_lock(&lock);
    world.keep_partial(&hashes[0], &vec![0; first.len()]);
    world.run(&BOOTSTRAP).exits(0);
}

#[test]
fn a_file_that_shrinks_under_a_running_download_is_not_glued_together() {
    let server = Server::start();
    let archive = large_tar_gz(1);
    // 416 for what is behind the bytes that were passed on already: nothing may be forgotten of them.
    let faults = [Fault::Cut(archive.len() / 2), Fault::Status(416)];
    let url = server.offer_with("dist.tar.gz", &archive, &faults);
    let world = World::with_lock(&lock(&[(&url, &sha256(&archive), Some(archive.len()))]));
    let run = world.run(&BOOTSTRAP).exits(4);
    assert!(run.stderr.contains("answered 416"), "{}", run.stderr);
    world.run(&BOOTSTRAP).exits(0);
    assert_eq!(server.sent(), archive.len() as u64, "no byte twice");
}

#[test]
fn a_stalled_transfer_is_broken_off_and_continued() {
    let server = Server::start();
    let archive = large_tar_gz(1);
    let url = server.offer_with("dist.tar.gz", &archive, &[Fault::Stall(archive.len() / 2)]);
    let world = World::with_lock(&lock(&[(&url, &sha256(&archive), Some(archive.len()))]));
    let run =
        world.ended(world.command(&BOOTSTRAP).env("STRATA_STALL_SECONDS", "0.2").output().expect("runs"));
    let run = run.exits(0);
    assert!(run.stderr.contains("stalled: nothing came for"), "{}", run.stderr);
}

#[test]
fn a_line_that_never_gets_better_is_given_up_and_the_bytes_are_kept() {
    let server = Server::start();
    let archive = large_tar_gz(1);
    let world = World::with_lock(&lock_of(&server, &archive, Fault::Cut(1000)));
    let run = world.run(&BOOTSTRAP).exits(4);
    assert!(run.stderr.contains("try 5 of 5 in "), "{}", run.stderr);
    assert_eq!(server.request_count(), 6, "one budget for the archive");
    assert_eq!(world.store(), (vec![], vec![]));
    assert_eq!(world.partials().len(), 2, "bytes and sidecar: {:?}", world.partials());
    server.offer_with("dist.tar.gz", &archive, &[]);
    world.run(&BOOTSTRAP).exits(0);
    assert_eq!(server.sent(), archive.len() as u64, "no byte twice");
}

#[test]
fn labels_of_transfer_do_not_change_the_bytes() {
    let server = Server::start();
    let archive = large_tar_gz(1);
    for fault in [Fault::LabelledGzip, Fault::NoLength] {
        World::with_lock(&lock_of(&server, &archive, fault)).run(&BOOTSTRAP).exits(0);
    }
}

#[test]
fn a_verified_archive_outlives_a_layout_that_is_refused() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members()[..5]);
    let world = World::with_lock(&lock_of(&server, &archive, Fault::None));
    world.run(&BOOTSTRAP).exits(1);
    world.run(&BOOTSTRAP).exits(1);
    assert_eq!(server.request_count(), 1, "the second run had the bytes");
}

#[test]
fn a_mirror_serves_a_machine_without_a_network() {
    let server = Server::start();
    let archive = large_tar_gz(1);
    let world = World::with_lock(&lock_of(&server, &archive, Fault::None));
    world.run(&["mirror", "--toolchain", "t", "--out", "mirror"]).exits(0);
    let again = world.run(&["mirror", "--toolchain", "t", "--out", "mirror"]).exits(0);
    assert_eq!(again.stdout, "0 new files in mirror\n");
    assert_eq!(server.request_count(), 1);

    let lock_text = std::fs::read_to_string(world.path("toolchains.lock")).expect("lock");
    let offline = World::with_lock(&lock_text);
    let run = offline.run(&["bootstrap", "--toolchain", "t", "--offline"]).exits(4);
    assert!(run.stderr.contains(&sha256(&archive)), "{}", run.stderr);
    let folder = world.path("mirror").display().to_string();
    offline.run(&["bootstrap", "--toolchain", "t", "--offline", "--mirror", &folder]).exits(0);
    assert_eq!(server.request_count(), 1);

    // The same from a server, when the source is gone; a mirror that lies is found out.
    let path = format!("{}/dist.tar.gz", sha256(&archive));
    let mirror = server.offer(&path, &archive, Fault::None).replace(&format!("/{path}"), "");
    server.offer("dist.tar.gz", b"", Fault::Status(403));
    let other = World::with_lock(&lock_text);
    other.run(&["bootstrap", "--toolchain", "t", "--mirror", &format!("lan={mirror}")]).exits(0);
    std::fs::write(world.path("mirror").join(&path), b"something else").expect("write");
    let lied = World::with_lock(&lock_text);
    lied.run(&["bootstrap", "--toolchain", "t", "--offline", "--mirror", &folder]).exits(3);
    assert_eq!(lied.store(), (vec![], vec![]));
}
