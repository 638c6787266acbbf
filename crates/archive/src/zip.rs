//! Zip (APPNOTE.TXT 6.3.10) with zip64 where it is needed and Unix modes.

use crate::deflate::{Deflated, Piece, WHOLE, deflate_piece, pieces};
use crate::{Error, Member, Timestamp};
use flate2::Crc;
use rayon::prelude::*;
use std::io::{self, Seek, SeekFrom, Write};

/// What 32-bit and 16-bit fields can hold; smaller in tests.
#[derive(Clone, Copy)]
struct Limits {
    bytes: u64,
    members: u64,
    /// Larger members are compressed in chunks.
    whole: u64,
}

const LIMITS: Limits = Limits { bytes: u32::MAX as u64, members: u16::MAX as u64, whole: WHOLE };
/// 2.0 knows deflate, 4.5 zip64 (4.4.3.2).
const NEEDS: u16 = 20;
const NEEDS_ZIP64: u16 = 45;
/// Unix, so that the modes count (4.4.2).
const MADE_BY: u16 = 3 << 8;
/// The name is UTF-8 (4.4.4, bit 11).
const UTF8: u16 = 1 << 11;
const DEFLATED: u16 = 8;
const ZIP64_EXTRA: u16 = 1;
/// Bytes that are compressed before they are written: what bounds the memory.
const BATCH: u64 = 512 << 20;

/// Writes a zip of `members`, in their order, to `out`.
///
/// # Errors
/// A file that cannot be read or is shorter than its member says, a name over 65,535 bytes, or `out`'s own errors.
pub fn write_zip(members: &[Member], time: Timestamp, out: impl Write + Seek) -> Result<(), Error> {
    write_with(members, time, out, LIMITS)
}

fn write_with(
    members: &[Member],
    time: Timestamp,
    out: impl Write + Seek,
    limits: Limits,
) -> Result<(), Error> {
    if let Some(member) = members.iter().find(|member| member.name.len() > usize::from(u16::MAX)) {
        return Err(Error::Name { name: member.name.clone(), limit: usize::from(u16::MAX) });
    }
    let pieces: Vec<(&Member, Piece)> = members
        .iter()
        .flat_map(|member| pieces(member.content.size(), limits.whole).map(move |piece| (member, piece)))
        .collect();
    let mut zip = Zip { out, position: 0, time, limits, entries: Vec::new() };
    let mut rest = pieces.as_slice();
    while !rest.is_empty() {
        let batch;
        (batch, rest) = rest.split_at(batch_length(rest));
        let deflate = |(member, piece): &(&Member, Piece)| deflate_piece(&member.content, *piece);
        // One by one: a few large members must not wait behind each other in one thread's share.
        let deflated: Vec<Result<Deflated, Error>> = batch.par_iter().with_max_len(1).map(deflate).collect();
        for ((member, piece), deflated) in batch.iter().zip(deflated) {
            let deflated = deflated?;
            if piece.start == 0 {
                zip.begin(member).map_err(Error::Write)?;
            }
            zip.append(&deflated).map_err(Error::Write)?;
            if piece.start + piece.length == member.content.size() {
                zip.end().map_err(Error::Write)?;
            }
        }
    }
    zip.finish().map_err(Error::Write)
}

/// As many pieces as have the bytes of a batch; at least one.
fn batch_length(pieces: &[(&Member, Piece)]) -> usize {
    let mut bytes = 0;
    let fits = |(_, piece): &&(&Member, Piece)| {
        bytes += piece.length;
        bytes <= BATCH
    };
    pieces.iter().take_while(fits).count().max(1)
}

struct Zip<'a, W> {
    out: W,
    position: u64,
    time: Timestamp,
    limits: Limits,
    entries: Vec<Entry<'a>>,
}

/// One member as the directory has it.
struct Entry<'a> {
    member: &'a Member,
    offset: u64,
    compressed: u64,
    crc: Crc,
    /// Its sizes may not fit into 32 bits.
    is_large: bool,
}

impl<'a, W: Write + Seek> Zip<'a, W> {
    /// Keeps the place of a member's header: compressed size and CRC are known at its end.
    fn begin(&mut self, member: &'a Member) -> io::Result<()> {
        let size = member.content.size();
        // Deflate adds less than this to what it cannot make smaller.
        let is_large = size + size / 64 + 1024 > self.limits.bytes;
        let entry = Entry { member, offset: self.position, compressed: 0, crc: Crc::new(), is_large };
        self.write(&entry.local_header(self.time))?;
        self.entries.push(entry);
        Ok(())
    }

    fn append(&mut self, deflated: &Deflated) -> io::Result<()> {
        if let Some(entry) = self.entries.last_mut() {
            entry.compressed += deflated.bytes.len() as u64;
            entry.crc.combine(&deflated.crc);
        }
        self.write(&deflated.bytes)
    }

    fn end(&mut self) -> io::Result<()> {
        let Some(entry) = self.entries.last() else { return Ok(()) };
        let (header, offset) = (entry.local_header(self.time), entry.offset);
        self.out.seek(SeekFrom::Start(offset))?;
        self.out.write_all(&header)?;
        self.out.seek(SeekFrom::Start(self.position))?;
        Ok(())
    }

    /// The directory.
    fn finish(mut self) -> io::Result<()> {
        let (start, count) = (self.position, self.entries.len() as u64);
        for entry in std::mem::take(&mut self.entries) {
            self.write(&entry.directory_header(self.time, self.limits))?;
        }
        let size = self.position - start;
        let needs_zip64 =
            count >= self.limits.members || start >= self.limits.bytes || size >= self.limits.bytes;
        if needs_zip64 {
            let at = self.position;
            // 4.3.14 and 4.3.15
            let mut end = Fields::default();
            end.u32(0x0606_4b50).u64(44).u16(MADE_BY | NEEDS_ZIP64).u16(NEEDS_ZIP64).u32(0).u32(0);
            end.u64(count).u64(count).u64(size).u64(start);
            end.u32(0x0706_4b50).u32(0).u64(at).u32(1);
            self.write(&end.0)?;
        }
        let short = |value: u64, most: u64| if needs_zip64 { most } else { value };
        let count = short(count, u64::from(u16::MAX)) as u16;
        let mut end = Fields::default();
        end.u32(0x0605_4b50).u16(0).u16(0).u16(count).u16(count);
        end.u32(short(size, u64::from(u32::MAX)) as u32).u32(short(start, u64::from(u32::MAX)) as u32).u16(0);
        self.write(&end.0)?;
        self.out.flush()
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

impl Entry<'_> {
    /// 4.3.7; the same length whatever the sizes turn out to be.
    fn local_header(&self, time: Timestamp) -> Vec<u8> {
        let mut extra = Fields::default();
        if self.is_large {
            extra.u16(ZIP64_EXTRA).u16(16).u64(self.member.content.size()).u64(self.compressed);
        }
        let mut header = Fields::default();
        header.u32(0x0403_4b50);
        self.common(&mut header, time, self.is_large);
        header.u16(self.member.name.len() as u16).u16(extra.0.len() as u16);
        header.bytes(self.member.name.as_bytes()).bytes(&extra.0);
        header.0
    }

    /// 4.3.12
    fn directory_header(&self, time: Timestamp, limits: Limits) -> Vec<u8> {
        let mut large = Fields::default();
        if self.is_large {
            large.u64(self.member.content.size()).u64(self.compressed);
        }
        let is_far = self.offset >= limits.bytes;
        if is_far {
            large.u64(self.offset);
        }
        let mut extra = Fields::default();
        if !large.0.is_empty() {
            extra.u16(ZIP64_EXTRA).u16(large.0.len() as u16).bytes(&large.0);
        }
        let needs = if extra.0.is_empty() { NEEDS } else { NEEDS_ZIP64 };
        let mode: u32 = if self.member.executable { 0o100_755 } else { 0o100_644 };
        let mut header = Fields::default();
        header.u32(0x0201_4b50).u16(MADE_BY | needs);
        self.common(&mut header, time, !extra.0.is_empty());
        header.u16(self.member.name.len() as u16).u16(extra.0.len() as u16).u16(0).u16(0).u16(0);
        header.u32(mode << 16).u32(if is_far { u32::MAX } else { self.offset as u32 });
        header.bytes(self.member.name.as_bytes()).bytes(&extra.0);
        header.0
    }

    /// From the version that is needed to the sizes.
    fn common(&self, header: &mut Fields, time: Timestamp, is_zip64: bool) {
        let (date, time) = time.to_dos();
        let size = |size: u64| if self.is_large { u32::MAX } else { size as u32 };
        header.u16(if is_zip64 { NEEDS_ZIP64 } else { NEEDS }).u16(UTF8).u16(DEFLATED).u16(time).u16(date);
        header.u32(self.crc.sum()).u32(size(self.compressed)).u32(size(self.member.content.size()));
    }
}

/// Little-endian fields, one after the other.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Content;
    use std::io::{Cursor, Read};

    fn member(name: &str, bytes: &[u8]) -> Member {
        Member { name: name.to_owned(), content: Content::Bytes(bytes.to_vec()), executable: false }
    }

    fn packed(members: &[Member], limits: Limits) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        write_with(members, Timestamp(1_796_018_324), &mut out, limits).expect("writes");
        out.into_inner()
    }

    /// Read by another implementation.
    fn unpacked(zip: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut archive = zip::ZipArchive::new(Cursor::new(zip)).expect("a zip");
        (0..archive.len())
            .map(|index| {
                let mut file = archive.by_index(index).expect("a member");
                let mut content = Vec::new();
                file.read_to_end(&mut content).expect("content with the right CRC");
                (file.name().expect("a name").into_owned(), content)
            })
            .collect()
    }

    #[test]
    fn sizes_offsets_and_counts_beyond_32_bits_are_in_zip64_fields() {
        let members = [member("a", &[1; 5000]), member("b", b""), member("c", &[2; 300])];
        let small = packed(&members, LIMITS);
        let large = packed(&members, Limits { bytes: 20, members: 2, whole: 0 });
        assert!(large.len() > small.len());
        let expected: Vec<(String, Vec<u8>)> = members
            .iter()
            .map(|member| match &member.content {
                Content::Bytes(bytes) => (member.name.clone(), bytes.clone()),
                Content::File { .. } => unreachable!(),
            })
            .collect();
        assert_eq!(unpacked(&small), expected);
        assert_eq!(unpacked(&large), expected);
    }

    #[test]
    fn a_member_in_chunks_is_one_stream_of_about_the_same_size() {
        let bytes: Vec<u8> =
            (0..3_300_000_u32).map(|at| (at.wrapping_mul(at >> 7) >> 11) as u8 & 15).collect();
        let members = [member("large", &bytes), member("small", b"small")];
        let (whole, cut) = (packed(&members, LIMITS), packed(&members, Limits { whole: 1 << 20, ..LIMITS }));
        assert_ne!(whole, cut);
        assert!(unpacked(&cut) == unpacked(&whole), "the content differs");
        assert!(cut.len() < whole.len() * 105 / 100, "{} of {}", cut.len(), whole.len());
    }

    #[test]
    fn more_members_than_16_bits_count() {
        let members: Vec<Member> = (0..70_000).map(|index| member(&format!("{index:05}"), b"")).collect();
        let zip = packed(&members, LIMITS);
        assert_eq!(zip::ZipArchive::new(Cursor::new(zip)).expect("a zip").len(), 70_000);
    }

    #[test]
    fn a_name_that_no_zip_can_hold_is_refused() {
        let error = write_zip(&[member(&"x".repeat(70_000), b"")], Timestamp(0), Cursor::new(Vec::new()));
        assert!(matches!(error, Err(Error::Name { limit: 65_535, .. })));
    }
}
