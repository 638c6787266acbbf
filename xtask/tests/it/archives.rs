//! The rules for archives, each broken once by a generated archive (facts/peers.md 3b): nothing is installed, and the message names the member.

use crate::support::{BOOTSTRAP, Fault, Server, World, dist_members, lock, sha256, tar_gz};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// A tar archive with one extra member that `header` describes, before the good ones.
fn with_member(name: &[u8], kind: tar::EntryType, link: &[u8], content: &[u8]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    // By hand: the crate refuses most of these names.
    header.as_mut_bytes()[..name.len()].copy_from_slice(name);
    header.as_mut_bytes()[157..157 + link.len()].copy_from_slice(link);
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    builder.append(&header, content).expect("append");
    gzip(&builder.into_inner().expect("tar"))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("write");
    encoder.finish().expect("finish")
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes), &mut plain).expect("gunzip");
    plain
}

fn two(first: &str, second: &str) -> Vec<u8> {
    use crate::support::Member;
    tar_gz("", &[Member::file(first, "1"), Member::file(second, "2")])
}

/// A PAX record `length key=value\n`, whose length counts itself.
fn pax(records: &[(&str, &str)], name: &str, content: &[u8]) -> Vec<u8> {
    let mut text = String::new();
    for (key, value) in records {
        let rest = format!(" {key}={value}\n");
        let mut length = rest.len() + 1;
        while length != rest.len() + length.to_string().len() {
            length = rest.len() + length.to_string().len();
        }
        text += &format!("{length}{rest}");
    }
    let mut builder = tar::Builder::new(Vec::new());
    let mut add = |kind, name: &str, content: &[u8]| {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, content).expect("append");
    };
    add(tar::EntryType::XHeader, "PaxHeaders/x", text.as_bytes());
    add(tar::EntryType::Regular, name, content);
    gzip(&builder.into_inner().expect("tar"))
}

fn cases() -> Vec<(&'static str, Vec<u8>)> {
    use tar::EntryType as Kind;
    let good = tar_gz("", &dist_members());
    let tar = gunzip(&good);
    let file = |name: &[u8]| with_member(name, Kind::Regular, b"", b"x");
    let mut trailing = good.clone();
    trailing.extend(b"bytes after the end");
    let mut second_member = good.clone();
    second_member.extend(gzip(b"not zeros"));
    vec![
        ("an absolute path", file(b"/etc/passwd")),
        ("a drive", file(b"C:/x")),
        ("dots", file(b"lib/../../x")),
        ("a backslash", file(b"lib\\x")),
        ("a device name", file(b"lib/aux.h")),
        ("a trailing dot", file(b"lib/x.")),
        ("a colon", file(b"lib/x:stream")),
        ("no text", file(b"lib/\xff\xfe")),
        ("a control character", file(b"lib/a\nb")),
        ("a fifo", with_member(b"lib/x", Kind::Fifo, b"", b"")),
        ("a character device", with_member(b"dev/null", Kind::Char, b"", b"")),
        ("a block device", with_member(b"dev/sda", Kind::Block, b"", b"")),
        ("an unknown type", with_member(b"lib/x", Kind::new(b'V'), b"", b"")),
        ("a GNU sparse file", with_member(b"lib/x", Kind::GNUSparse, b"", b"")),
        ("a PAX sparse file", pax(&[("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0")], "lib/x", b"0\n")),
        ("a link to an absolute path", with_member(b"lib/x", Kind::Symlink, b"/etc", b"")),
        ("a link out of the tree", with_member(b"lib/x", Kind::Symlink, b"../..", b"")),
        ("a link to itself", with_member(b"lib/x", Kind::Symlink, b"x", b"")),
        ("a hard link to nothing", with_member(b"lib/x", Kind::Link, b"lib/y", b"")),
        ("a hard link out of the tree", with_member(b"lib/x", Kind::Link, b"../../etc/passwd", b"")),
        ("one name twice", two("lib/x", "lib/x")),
        ("names that differ by case", two("lib/x", "lib/X")),
        ("folders that differ by case", two("lib/x", "LIB/y")),
        ("a file below a file", two("lib/x", "lib/x/y")),
        ("a file in the place of a folder", two("lib/x/y", "lib/x")),
        ("cut at a record boundary", gzip(&tar[..tar.len() - 1024])),
        ("cut in a member", gzip(&tar[..tar.len() / 2])),
        ("cut in the gzip stream", good[..good.len() - 9].to_vec()),
        ("bytes after the gzip stream", trailing),
        ("a second gzip member that is not part of the archive", second_member),
        ("an empty file", Vec::new()),
        ("an empty archive", gzip(&[])),
    ]
}

#[test]
fn every_rule_has_its_message() {
    let server = Server::start();
    let mut messages = Vec::new();
    for (name, archive) in cases() {
        let url = server.offer("dist.tar.gz", &archive, Fault::None);
        let world = World::with_lock(&lock(&[(&url, &sha256(&archive), Some(archive.len()))]));
        let run = world.run(&BOOTSTRAP);
        assert_eq!(run.code, Some(1), "{name}: {}", run.stderr);
        assert_eq!(world.store(), (vec![], vec![]), "{name}");
        let reason = run
            .stderr
            .lines()
            .find(|line| line.starts_with("caused by: ") && !line.contains("failed to unpack"));
        messages.push(format!("{name}: {}", reason.expect("a reason").trim_start_matches("caused by: ")));
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn what_is_unusual_and_harmless_is_unpacked() {
    let tar = gunzip(&tar_gz("", &dist_members()));
    let (first, second) = tar.split_at(tar.len() / 2);
    let server = Server::start();
    let padded = [tar.as_slice(), &[0; 20 * 512]].concat();
    for (name, archive) in
        [("several gzip members", [gzip(first), gzip(second)].concat()), ("padding of zeros", gzip(&padded))]
    {
        let url = server.offer("dist.tar.gz", &archive, Fault::None);
        let world = World::with_lock(&lock(&[(&url, &sha256(&archive), Some(archive.len()))]));
        assert_eq!(world.run(&BOOTSTRAP).code, Some(0), "{name}");
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
