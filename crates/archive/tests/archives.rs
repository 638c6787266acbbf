//! Archives as other programs see them.

use archive::{Content, Member, Timestamp, write_tar_zst, write_zip};
use std::io::{Cursor, Read, Write};

const TIME: Timestamp = Timestamp(1_796_018_324);

/// Text-like and random bytes over several chunks, an empty file, a program, a file on disk.
fn members(folder: &std::path::Path) -> Vec<Member> {
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let random: Vec<u8> = (0..700_000).map(|_| noise()).collect();
    let text: Vec<u8> = (0..1_600_000).map(|at| b"kernel wave32 "[at % 14] ^ u8::from(noise() < 9)).collect();
    let path = folder.join("on-disk");
    std::fs::File::create(&path).and_then(|mut file| file.write_all(&text)).expect("write");
    let member = |name: &str, content, executable| Member { name: name.into(), content, executable };
    vec![
        member("r/empty", Content::Bytes(Vec::new()), false),
        member("r/random.bin", Content::Bytes(random), false),
        member("r/ümlaut.txt", Content::Bytes(text.clone()), false),
        member("r/program", Content::File { path, size: text.len() as u64 }, true),
    ]
}

fn content(member: &Member) -> Vec<u8> {
    match &member.content {
        Content::Bytes(bytes) => bytes.clone(),
        Content::File { path, .. } => std::fs::read(path).expect("read"),
    }
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

#[test]
fn a_zip_is_a_function_of_its_members_and_others_can_read_it() {
    let folder = tempfile::tempdir().expect("temp");
    let members = members(folder.path());
    let pack = || {
        let mut out = Cursor::new(Vec::new());
        write_zip(&members, TIME, &mut out).expect("writes");
        out.into_inner()
    };
    let zip = on_threads(1, pack);
    assert!(zip == on_threads(3, pack), "the number of threads changes the bytes");

    let mut archive = zip::ZipArchive::new(Cursor::new(&zip)).expect("a zip");
    assert_eq!(archive.len(), members.len());
    for (index, member) in members.iter().enumerate() {
        let mut file = archive.by_index(index).expect("a member");
        assert_eq!(file.name().expect("a name"), member.name);
        assert_eq!(file.unix_mode(), Some(if member.executable { 0o100_755 } else { 0o100_644 }));
        let time = file.last_modified().expect("a time");
        assert_eq!(time.to_string(), "2026-11-30 05:58:44");
        let mut read = Vec::new();
        file.read_to_end(&mut read).expect("content");
        assert!(read == content(member), "{} differs", member.name);
    }
}

#[test]
fn a_tar_zst_is_one_too() {
    let folder = tempfile::tempdir().expect("temp");
    let members = members(folder.path());
    let pack = || {
        let mut out = Vec::new();
        write_tar_zst(&members, TIME, &mut out).expect("writes");
        out
    };
    let packed = pack();
    assert!(packed == pack());
    let mut archive = tar::Archive::new(zstd::Decoder::new(packed.as_slice()).expect("zstd"));
    for (entry, member) in archive.entries().expect("entries").zip(&members) {
        let mut entry = entry.expect("an entry");
        assert_eq!(entry.path_bytes().as_ref(), member.name.as_bytes());
        assert_eq!(entry.header().mode().expect("mode"), if member.executable { 0o755 } else { 0o644 });
        assert_eq!(entry.header().mtime().expect("time"), 1_796_018_324);
        let mut read = Vec::new();
        entry.read_to_end(&mut read).expect("content");
        assert!(read == content(member), "{} differs", member.name);
    }
}

#[test]
fn a_file_that_became_shorter_is_an_error_and_not_zeros() {
    let folder = tempfile::tempdir().expect("temp");
    let path = folder.path().join("short");
    std::fs::write(&path, b"short").expect("write");
    let members =
        [Member { name: "m".into(), content: Content::File { path, size: 1000 }, executable: false }];
    assert!(write_zip(&members, TIME, Cursor::new(Vec::new())).is_err());
    assert!(write_tar_zst(&members, TIME, Vec::new()).is_err());
}
