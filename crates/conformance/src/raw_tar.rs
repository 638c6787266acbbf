//! tar archives that no well-behaved writer makes.

use crate::pack::gzip;
use tar::EntryType;

/// A tar.gz with one member, whose name, type and link are written byte for byte: the tar crate refuses most of them.
pub(crate) fn with_member(name: &[u8], kind: EntryType, link: &[u8], content: &[u8]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name);
    header.as_mut_bytes()[157..157 + link.len()].copy_from_slice(link);
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    builder.append(&header, content).expect("writes to memory");
    gzip(&builder.into_inner().expect("finishes in memory"))
}

/// A tar.gz with one member that PAX records describe.
pub(crate) fn with_pax(records: &[(&str, &str)], name: &str, content: &[u8]) -> Vec<u8> {
    let text: String = records.iter().map(|(key, value)| record(key, value)).collect();
    let mut builder = tar::Builder::new(Vec::new());
    let mut add = |kind, name: &str, content: &[u8]| {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, content).expect("writes to memory");
    };
    add(EntryType::XHeader, "pax", text.as_bytes());
    add(EntryType::Regular, name, content);
    gzip(&builder.into_inner().expect("finishes in memory"))
}

/// `length key=value\n`, whose length counts itself.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len() + 1;
    while length != rest.len() + length.to_string().len() {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}")
}

/// What GNU tar makes of a file with a hole in the format that `--format` names; `None` where there is no GNU tar.
pub(crate) fn sparse(format: &str) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = std::fs::File::create(folder.path().join("hole")).expect("a file");
    file.set_len(1 << 20).expect("a hole");
    std::os::unix::fs::FileExt::write_all_at(&file, b"data", 1 << 19).expect("data in its middle");
    let output = std::process::Command::new("tar")
        .args(["--create", "--sparse", "--format", format, "--file", "-", "hole"])
        .current_dir(folder.path())
        .output()
        .ok()?;
    output.status.success().then(|| gzip(&output.stdout))
}
