//! The table: what is offered, and what an installer has to make of it.

use crate::dist::{Member, dist_members, tar, tar_gz};
use crate::pack::{ar, gzip, xz, zip, zstd};
use crate::raw_tar::{sparse, with_member, with_pax};
use crate::server::Fault;
use tar::EntryType as Kind;

/// What has to become of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// An error, and nothing is left where the tree would be.
    Refused,
    /// The whole tree.
    Installed,
}

/// One row.
pub struct Case {
    /// What is special about it.
    pub name: &'static str,
    /// Its row in facts/peers.md 3.
    pub row: u8,
    /// The file's name, whose ending tells the format.
    pub file: &'static str,
    /// What the server holds.
    pub archive: Vec<u8>,
    /// What the lock was made from, when that is something else.
    pub locked: Option<Vec<u8>>,
    /// What goes wrong with each answer, in order.
    pub faults: Vec<Fault>,
    /// What has to become of it.
    pub verdict: Verdict,
}

impl Case {
    fn refused(name: &'static str, row: u8, archive: Vec<u8>) -> Self {
        let file = "dist.tar.gz";
        Self { name, row, file, archive, locked: None, faults: Vec::new(), verdict: Verdict::Refused }
    }

    fn installed(name: &'static str, row: u8, archive: Vec<u8>) -> Self {
        Self { verdict: Verdict::Installed, ..Self::refused(name, row, archive) }
    }

    fn called(self, file: &'static str) -> Self {
        Self { file, ..self }
    }

    fn with(self, faults: &[Fault]) -> Self {
        Self { faults: faults.to_vec(), ..self }
    }

    fn locked_as(self, archive: Vec<u8>) -> Self {
        Self { locked: Some(archive), ..self }
    }
}

/// All rows.
pub fn cases() -> Vec<Case> {
    [names(), kinds(), links(), collisions(), truncations(), other_formats(), unusual(), downloads()]
        .into_iter()
        .flatten()
        .collect()
}

/// Names that leave the tree or that some host cannot hold.
fn names() -> Vec<Case> {
    let file = |name, row, path: &[u8]| Case::refused(name, row, with_member(path, Kind::Regular, b"", b"x"));
    vec![
        file("an absolute path", 30, b"/etc/passwd"),
        file("a drive", 30, b"C:/x"),
        file("dots", 30, b"lib/../../x"),
        file("a backslash", 35, b"lib\\x"),
        file("a device name", 35, b"lib/aux.h"),
        file("a trailing dot", 35, b"lib/x."),
        file("a colon", 35, b"lib/x:stream"),
        file("no text", 35, b"lib/\xff\xfe"),
        file("a control character", 35, b"lib/a\nb"),
    ]
}

/// Members that are neither file, folder nor link.
fn kinds() -> Vec<Case> {
    let member = |name, path: &[u8], kind| Case::refused(name, 28, with_member(path, kind, b"", b""));
    let pax_sparse = [("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0")];
    let mut cases = vec![
        member("a fifo", b"lib/x", Kind::Fifo),
        member("a character device", b"dev/null", Kind::Char),
        member("a block device", b"dev/sda", Kind::Block),
        member("an unknown type", b"lib/x", Kind::new(b'V')),
        member("a broken GNU sparse file", b"lib/x", Kind::GNUSparse),
        Case::refused("a broken PAX sparse file", 28, with_pax(&pax_sparse, "lib/x", b"0\n")),
    ];
    for (name, format) in [("a GNU sparse file", "gnu"), ("a PAX sparse file", "posix")] {
        cases.extend(sparse(format).map(|archive| Case::refused(name, 28, archive)));
    }
    cases
}

fn links() -> Vec<Case> {
    let link =
        |name, row, kind, target: &[u8]| Case::refused(name, row, with_member(b"lib/x", kind, target, b""));
    vec![
        link("a link to an absolute path", 29, Kind::Symlink, b"/etc"),
        link("a link out of the tree", 29, Kind::Symlink, b"../.."),
        link("a link to itself", 29, Kind::Symlink, b"x"),
        link("a hard link to nothing", 27, Kind::Link, b"lib/y"),
        link("a hard link out of the tree", 27, Kind::Link, b"../../etc/passwd"),
    ]
}

fn collisions() -> Vec<Case> {
    let two = |name, row, first: &str, second: &str| {
        Case::refused(name, row, tar_gz("", &[Member::file(first, "1"), Member::file(second, "2")]))
    };
    vec![
        two("one name twice", 32, "lib/x", "lib/x"),
        two("names that differ by case", 33, "lib/x", "lib/X"),
        two("folders that differ by case", 33, "lib/x", "LIB/y"),
        two("names that differ by the writing of an accent", 33, "lib/\u{e9}", "lib/e\u{301}"),
        two("ß and SS", 33, "lib/straße", "lib/STRASSE"),
        two("a file below a file", 32, "lib/x", "lib/x/y"),
        two("a file in the place of a folder", 32, "lib/x/y", "lib/x"),
    ]
}

fn truncations() -> Vec<Case> {
    let tar = tar("", &dist_members());
    let good = gzip(&tar);
    let then = |more: &[u8]| [good.as_slice(), more].concat();
    vec![
        Case::refused("cut at a record boundary", 31, gzip(&tar[..tar.len() - 1024])),
        Case::refused("cut in a member", 31, gzip(&tar[..tar.len() / 2])),
        Case::refused("cut in the gzip stream", 6, good[..good.len() - 9].to_vec()),
        Case::refused("bytes after the gzip stream", 36, then(b"bytes after the end")),
        Case::refused("a second gzip member that is not part of the archive", 36, then(&gzip(b"not zeros"))),
        Case::refused("an empty file", 31, Vec::new()),
        Case::refused("an empty archive", 31, gzip(&[])),
    ]
}

/// Formats beside tar.gz, whole and broken.
fn other_formats() -> Vec<Case> {
    let tar = tar("", &dist_members());
    let half = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
    let zipped = |extra: &[(&str, u32, &str)]| {
        let mut members: Vec<(String, u32, Vec<u8>)> =
            dist_members().into_iter().map(Member::for_zip).collect();
        members
            .extend(extra.iter().map(|(name, mode, text)| ((*name).into(), *mode, text.as_bytes().to_vec())));
        zip(&members)
    };
    // The writer refuses such names; a name of the same length is written and then replaced, twice as a zip has it.
    let renamed = |from: &str, to: &str| replaced(zipped(&[(from, 0o644, "x")]), from, to);
    let skip = [&0x184D_2A50u32.to_le_bytes()[..], &3u32.to_le_bytes(), b"abc"].concat();
    let deb = |data: &str, content: &[u8]| {
        ar(&[("debian-binary", b"2.0\n"), ("control.tar.gz", &gzip(&[])), (data, content)])
    };
    vec![
        Case::installed("tar.xz", 36, xz(&tar)).called("dist.tar.xz"),
        Case::installed("two xz streams", 36, [xz(&tar[..512]), xz(&tar[512..])].concat())
            .called("dist.tar.xz"),
        Case::installed("tar.zst", 36, zstd(&tar)).called("dist.tar.zst"),
        Case::installed(
            "two zstd frames and one to be skipped",
            36,
            [zstd(&tar[..512]), skip, zstd(&tar[512..])].concat(),
        )
        .called("dist.tar.zst"),
        Case::installed("zip", 36, zipped(&[])).called("dist.zip"),
        Case::installed("deb", 36, deb("data.tar.xz", &xz(&tar))).called("dist.deb"),
        Case::refused("tar.xz, cut", 31, half(xz(&tar))).called("dist.tar.xz"),
        Case::refused("tar.zst, cut", 31, half(zstd(&tar))).called("dist.tar.zst"),
        Case::refused("tar.zst, bytes after it", 36, [zstd(&tar).as_slice(), b"more"].concat())
            .called("dist.tar.zst"),
        Case::refused("zip, cut", 31, half(zipped(&[]))).called("dist.zip"),
        Case::refused("zip, dots", 30, renamed("lib/aa/bb/x", "lib/../../x")).called("dist.zip"),
        Case::refused("zip, an absolute path", 30, renamed("aetc/passwd", "/etc/passwd")).called("dist.zip"),
        Case::refused("zip, a backslash", 35, renamed("lib/aaa", "lib\\aaa")).called("dist.zip"),
        Case::refused("zip, one name twice", 32, renamed(".info/versiox", ".info/version"))
            .called("dist.zip"),
        Case::refused("zip, a link out of the tree", 29, zipped(&[("lib/x", 0o120_777, "../../etc")]))
            .called("dist.zip"),
        Case::refused("zip, a damaged member", 9, damaged(zipped(&[]))).called("dist.zip"),
        Case::refused("deb without data", 31, ar(&[("debian-binary", b"2.0\n")])).called("dist.deb"),
        Case::refused("deb, cut", 31, half(deb("data.tar.xz", &xz(&tar)))).called("dist.deb"),
        Case::refused(
            "deb, dots in its data",
            30,
            deb("data.tar.gz", &with_member(b"../x", Kind::Regular, b"", b"x")),
        )
        .called("dist.deb"),
    ]
}

/// What other tools make and is as good.
fn unusual() -> Vec<Case> {
    let tar = tar("", &dist_members());
    let (first, second) = tar.split_at(tar.len() / 2);
    let padded = [tar.as_slice(), &[0; 20 * 512]].concat();
    vec![
        Case::installed("several gzip members", 36, [gzip(first), gzip(second)].concat()),
        Case::installed("padding of zeros", 36, gzip(&padded)),
        Case::installed("members with ./ before their names", 34, tar_gz("./", &dist_members())),
    ]
}

/// Bad lines, servers and proxies around a good archive.
fn downloads() -> Vec<Case> {
    let good = tar_gz("", &dist_members());
    let third = good.len() / 3;
    let fine = |name, row, faults: &[Fault]| Case::installed(name, row, good.clone()).with(faults);
    let never_again: Vec<Fault> = std::iter::once(Fault::Cut(third)).chain([Fault::Cut(0); 12]).collect();
    let mut other = good.clone();
    *other.last_mut().expect("bytes") ^= 1;
    let mut longer = dist_members();
    longer.push(Member::file("lib/evil", "not what was measured"));
    vec![
        fine("the line breaks, twice", 5, &[Fault::Cut(third), Fault::Cut(third)]),
        fine("the server ignores the range", 1, &[Fault::Cut(third), Fault::IgnoreRange]),
        fine("a range begins too early", 2, &[Fault::Cut(third), Fault::EarlyRange(7)]),
        fine("the body ends early without a length", 6, &[Fault::CutNoLength(third)]),
        fine("the server is busy", 6, &[Fault::Status(503), Fault::Status(429)]),
        fine("the server stalls", 7, &[Fault::Stall(third)]),
        fine("the transfer is labelled as compressed", 8, &[Fault::LabelledGzip]),
        Case::refused("a web page in place of the archive", 11, good.clone()).with(&[Fault::Page]),
        Case::refused("the file is gone", 13, good.clone()).with(&[Fault::Status(404)]),
        Case::refused("nothing comes any more after a third", 6, good.clone()).with(&never_again),
        Case::refused("other bytes than were measured", 9, other).locked_as(good.clone()),
        Case::refused("another archive than was measured", 10, tar_gz("", &longer)).locked_as(good.clone()),
    ]
}

/// `archive` with every occurrence of `from` replaced by `to`, of the same length.
fn replaced(mut archive: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    for at in 0..=archive.len() - from.len() {
        if &archive[at..at + from.len()] == from.as_bytes() {
            archive[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
    }
    archive
}

/// A byte of the largest member is changed.
fn damaged(mut archive: Vec<u8>) -> Vec<u8> {
    let middle = archive.len() / 2;
    archive[middle] ^= 0x40;
    archive
}
