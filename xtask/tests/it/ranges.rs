//! `--connections N`: pieces side by side, with the same guarantees as one connection.

use crate::support::{Fault, Server, World, large_tar_gz, lock, sha256, wait_until};

const FOUR: [&str; 5] = ["bootstrap", "--toolchain", "t", "--connections", "4"];
/// Where the connections stall in the test of killed processes.
const STALL: usize = 300_000;
/// What each connection may have in its hands.
const CHUNK: usize = 256 << 10;

fn world(url: &str, archive: &[u8]) -> World {
    World::with_lock(&lock(&[(url, &sha256(archive), Some(archive.len()))]))
}

#[test]
fn pieces_come_side_by_side_and_no_byte_twice() {
    let server = Server::start();
    let archive = large_tar_gz(12);
    let world = world(&server.offer("dist.tar.gz", &archive, Fault::None), &archive);
    world.run(&FOUR).exits(0);
    assert_eq!(server.sent(), archive.len() as u64);
    let ranges =
        server.requests().iter().filter(|head| head.to_lowercase().contains("range: bytes=")).count();
    assert!(ranges >= 12, "{ranges} pieces of a mebibyte");
    assert_eq!(world.partials(), Vec::<String>::new());
}

#[test]
fn a_small_archive_needs_one_connection_unless_asked() {
    let server = Server::start();
    let archive = large_tar_gz(4);
    let world = world(&server.offer("dist.tar.gz", &archive, Fault::None), &archive);
    world.run(&FOUR[..3]).exits(0);
    assert_eq!(server.request_count(), 1);
}

#[test]
fn broken_pieces_are_continued_within_one_budget() {
    let server = Server::start();
    let archive = large_tar_gz(6);
    let faults =
        [Fault::Cut(70_000), Fault::Status(503), Fault::None, Fault::Cut(1 << 19), Fault::CutNoLength(9)];
    let world = world(&server.offer_with("dist.tar.gz", &archive, &faults), &archive);
    let run = world.run(&FOUR).exits(0);
    assert_eq!(server.sent(), archive.len() as u64, "no byte twice");
    assert!(run.stderr.contains("try 1 of 5 in "), "each wait is said: {}", run.stderr);
}

#[test]
fn a_server_that_stops_sending_ranges_is_asked_once_more_for_the_rest() {
    let server = Server::start();
    let archive = large_tar_gz(6);
    for faults in [
        vec![Fault::None, Fault::None, Fault::IgnoreRange],
        vec![Fault::None, Fault::EarlyRange(9)],
        vec![Fault::None, Fault::OtherValidator],
    ] {
        let world = world(&server.offer_with("dist.tar.gz", &archive, &faults), &archive);
        let run = world.run(&FOUR).exits(0);
        assert!(run.stderr.contains("one connection goes on"), "{}", run.stderr);
        assert_eq!(world.partials(), Vec::<String>::new());
    }
    let world = world(&server.offer("dist.tar.gz", &archive, Fault::IgnoreRange), &archive);
    world.run(&FOUR).exits(0);
}

#[test]
fn killed_anywhere_the_pieces_that_came_are_used() {
    let archive = large_tar_gz(16);
    for stalled in 1..4 {
        let server = Server::start();
        let mut faults = vec![Fault::None; 4 * stalled];
        faults.extend([Fault::Stall(STALL); 4]);
        let world = world(&server.offer_with("dist.tar.gz", &archive, &faults), &archive);
        let mut child = world.start(&FOUR);
        (0..4).for_each(|_| server.wait_for_stall());
        let kept = || -> u64 {
            let files = std::fs::read_dir(world.path("store/partials")).into_iter().flatten().flatten();
            files.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()
        };
        wait_until("what was sent is kept", || kept() >= server.sent());
        child.kill().expect("kill");
        child.wait().expect("xtask ends");
        server.offer("dist.tar.gz", &archive, Fault::None);
        // The next run may use pieces or one connection; either way it takes what is there.
        world.run(if stalled == 2 { &FOUR[..3] } else { &FOUR }).exits(0);
        let (wire, whole) = (server.sent(), archive.len());
        assert!(wire <= (whole + 4 * CHUNK) as u64, "{wire} bytes for {whole}");
        assert_eq!(world.partials(), Vec::<String>::new());
        assert_eq!(world.store().1, Vec::<String>::new());
    }
}

#[test]
fn kept_pieces_that_are_wrong_cost_one_more_download_and_no_more() {
    let server = Server::start();
    let archive = large_tar_gz(4);
    let world = world(&server.offer("dist.tar.gz", &archive, Fault::None), &archive);
    let folder = world.path("store/partials");
    std::fs::create_dir_all(&folder).expect("folder");
    let name = format!("{}.{}.piece", &sha256(&archive)[..16], 1 << 20);
    std::fs::write(folder.join(name), vec![9; 1 << 20]).expect("write");
    world.run(&FOUR).exits(0);
    assert!(server.sent() < 2 * archive.len() as u64 + 1);
    assert_eq!(world.partials(), Vec::<String>::new());
}
