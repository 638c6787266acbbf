//! tar streams: the `tar` crate parses headers, everything else is decided here.

use super::{Format, Refusal, TreeWriter, name, zstd};
use std::borrow::Cow;
use std::io::{self, BufRead, Read};
use tar::EntryType;

/// Unpacks a tar stream in the compression that `format` names, to the last byte of `reader`.
pub(super) fn unpack(format: Format, reader: impl BufRead, tree: &mut TreeWriter) -> Result<(), Refusal> {
    match format {
        Format::TarGz => unpack_plain(flate2::bufread::MultiGzDecoder::new(reader), tree),
        Format::TarXz => unpack_plain(liblzma::bufread::XzDecoder::new_multi_decoder(reader), tree),
        Format::TarZst => unpack_plain(zstd::Frames::new(reader), tree),
        Format::Tar | Format::Zip | Format::Deb => unpack_plain(reader, tree),
    }
}

fn unpack_plain(reader: impl Read, tree: &mut TreeWriter) -> Result<(), Refusal> {
    let mut archive = tar::Archive::new(Tail { inner: reader, zeros: 0, total: 0 });
    let mut members = 0;
    for entry in archive.entries().map_err(Refusal::unreadable)? {
        let mut entry = entry.map_err(Refusal::unreadable)?;
        members += 1;
        member(&mut entry, tree)?;
    }
    let mut tail = archive.into_inner();
    if tail.zeros < 1024 {
        // The parser stops at the first block of zeros; the second may be still to come.
        let mut block = [0; 512];
        io::copy(&mut (&mut tail).take(512), &mut &mut block[..]).map_err(Refusal::unreadable)?;
    }
    if tail.zeros < 1024 {
        return Err(Refusal::NoEnd { members });
    }
    // Padding to a record is zeros; anything else is not part of the archive.
    let before = tail.total - tail.zeros;
    io::copy(&mut tail, &mut io::sink()).map_err(Refusal::unreadable)?;
    match tail.total - tail.zeros == before {
        true => Ok(()),
        false => Err(Refusal::TrailingBytes),
    }
}

fn member(entry: &mut tar::Entry<'_, impl Read>, tree: &mut TreeWriter) -> Result<(), Refusal> {
    let name = entry.path_bytes().into_owned();
    let shown = || name::printable(&String::from_utf8_lossy(&name));
    if let Some(real_name) = sparse_name(entry)? {
        return Err(Refusal::Sparse { member: real_name.unwrap_or_else(shown) });
    }
    let link = |entry: &tar::Entry<'_, _>| entry.link_name_bytes().map(Cow::into_owned).unwrap_or_default();
    match entry.header().entry_type() {
        // Old archives mark a folder only by the slash at the end of its name.
        EntryType::Regular if name.ends_with(b"/") => tree.folder(&name),
        EntryType::Regular | EntryType::Continuous => {
            let executable = entry.header().mode().map_err(Refusal::unreadable)? & 0o111 != 0;
            tree.file(&name, executable, entry)
        }
        EntryType::Directory => tree.folder(&name),
        EntryType::Symlink => tree.symlink(&name, &link(entry)),
        EntryType::Link => tree.hard_link(&name, &link(entry)),
        EntryType::XGlobalHeader => Ok(()),
        EntryType::GNUSparse => Err(Refusal::Sparse { member: shown() }),
        EntryType::Char => Err(Refusal::SpecialFile { member: shown(), kind: "character device".into() }),
        EntryType::Block => Err(Refusal::SpecialFile { member: shown(), kind: "block device".into() }),
        EntryType::Fifo => Err(Refusal::SpecialFile { member: shown(), kind: "fifo".into() }),
        other => {
            let kind = format!("member of unknown type {:?}", other.as_byte() as char);
            Err(Refusal::SpecialFile { member: shown(), kind })
        }
    }
}

/// Whether it is a sparse file that is told by PAX records, as bsdtar and GNU tar write them, and its real name: the tar crate unpacks such files
/// wrong and without a word (facts/peers.md 0.5).
fn sparse_name(entry: &mut tar::Entry<'_, impl Read>) -> Result<Option<Option<String>>, Refusal> {
    let Some(extensions) = entry.pax_extensions().map_err(Refusal::unreadable)? else { return Ok(None) };
    let (mut is_sparse, mut name) = (false, None);
    for extension in extensions {
        let extension = extension.map_err(Refusal::unreadable)?;
        is_sparse |= extension.key_bytes().starts_with(b"GNU.sparse.");
        if extension.key_bytes() == b"GNU.sparse.name" {
            name = Some(name::printable(&String::from_utf8_lossy(extension.value_bytes())));
        }
    }
    Ok(is_sparse.then_some(name))
}

/// Whole blocks first: there are many in a file full of holes.
fn trailing_zeros(bytes: &[u8]) -> usize {
    const BLOCK: [u8; 64] = [0; 64];
    let blocks = bytes.rchunks_exact(64).take_while(|block| **block == BLOCK).count() * 64;
    let rest = &bytes[..bytes.len() - blocks];
    blocks + rest.iter().rev().take_while(|byte| **byte == 0).count()
}

/// Counts how many zero bytes ended what was read so far.
struct Tail<R> {
    inner: R,
    zeros: u64,
    total: u64,
}

impl<R: Read> Read for Tail<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        let trailing = trailing_zeros(&buffer[..n]);
        self.zeros = if trailing == n { self.zeros + n as u64 } else { trailing as u64 };
        self.total += n as u64;
        Ok(n)
    }
}
