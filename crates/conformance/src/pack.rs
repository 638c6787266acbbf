//! What archives are wrapped in.

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{Cursor, Read, Write};

/// One gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("writes to memory");
    encoder.finish().expect("finishes in memory")
}

/// What the first gzip member holds.
pub fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain).expect("a gzip member");
    plain
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).expect("writes to memory");
    encoder.finish().expect("finishes in memory")
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// A zip archive of `(name, unix mode, content)`.
pub(crate) fn zip(members: &[(String, u32, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, mode, content) in members {
        let options = zip::write::SimpleFileOptions::default().unix_permissions(mode & 0o777);
        match mode & 0o170_000 {
            0o120_000 => {
                writer.add_symlink(name, String::from_utf8_lossy(content), options).expect("a link");
            }
            _ => {
                writer.start_file(name, options).expect("a member");
                writer.write_all(content).expect("writes to memory");
            }
        }
    }
    writer.finish().expect("finishes in memory").into_inner()
}

/// A Debian package: an ar archive of these members.
pub(crate) fn ar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = ar::Builder::new(Vec::new());
    for (name, content) in members {
        let header = ar::Header::new(name.as_bytes().to_vec(), content.len() as u64);
        builder.append(&header, *content).expect("writes to memory");
    }
    builder.into_inner().expect("finishes in memory")
}
