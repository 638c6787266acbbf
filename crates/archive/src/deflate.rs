//! Deflate on all cores. Most members are compressed as a whole by libdeflate, side by side: it is nearly three times as fast as zlib and packs
//! better, but has to hold a member in memory. The few that are too large for that are cut into chunks that are independent work and still one
//! stream: a chunk takes the end of the one before as its dictionary and ends on a byte (RFC 1951, an empty stored block), as pigz does.

use crate::{Content, Error};
use flate2::{Compress, Compression, Crc, FlushCompress};
use libdeflater::{CompressionLvl, Compressor};

/// Members up to this size are compressed as a whole. Fixed, like the rest here: another size would give other bytes.
pub(crate) const WHOLE: u64 = 256 << 20;
const CHUNK: u64 = 1 << 20;
/// As far as a deflate match reaches back.
const WINDOW: u64 = 32 << 10;
/// Of libdeflate; `bench/dist` compares it with Info-ZIP's 6.
const LEVEL: i32 = 7;
/// Of zlib-rs: the only one that packs as well as zlib's 6.
const CHUNK_LEVEL: u32 = 9;

/// A member, or a chunk of one.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) start: u64,
    pub(crate) length: u64,
}

/// A piece, compressed.
pub(crate) struct Deflated {
    pub(crate) bytes: Vec<u8>,
    pub(crate) crc: Crc,
}

/// The pieces of a member of `size` bytes; an empty one has one, since it too needs an end. Members over `whole` bytes are cut.
pub(crate) fn pieces(size: u64, whole: u64) -> impl Iterator<Item = Piece> {
    let length = if size > whole { CHUNK } else { size.max(1) };
    (0..size.div_ceil(length).max(1)).map(move |index| {
        let start = index * length;
        Piece { start, length: length.min(size - start) }
    })
}

/// Compresses one piece of `content`.
pub(crate) fn deflate_piece(content: &Content, piece: Piece) -> Result<Deflated, Error> {
    let Piece { start, length } = piece;
    let from = start.saturating_sub(WINDOW);
    let bytes = content.read_at(from, (start - from + length) as usize)?;
    let (dictionary, own) = bytes.split_at((start - from) as usize);
    let mut crc = Crc::new();
    crc.update(own);
    let bytes = match length == content.size() {
        true => deflate_whole(own),
        false => {
            let is_last = start + length == content.size();
            deflate_chunk(dictionary, own, if is_last { FlushCompress::Finish } else { FlushCompress::Sync })
        }
    };
    Ok(Deflated { bytes, crc })
}

fn deflate_whole(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::new(LEVEL).expect("a level of libdeflate"));
    let mut out = vec![0; compressor.deflate_compress_bound(bytes.len())];
    let length = compressor.deflate_compress(bytes, &mut out).expect("the bound is enough");
    out.truncate(length);
    out
}

fn deflate_chunk(dictionary: &[u8], chunk: &[u8], flush: FlushCompress) -> Vec<u8> {
    let mut stream = Compress::new(Compression::new(CHUNK_LEVEL), false);
    if !dictionary.is_empty() {
        stream.set_dictionary(dictionary).expect("a raw stream that has seen nothing takes a dictionary");
    }
    let mut out = Vec::with_capacity(chunk.len() / 2 + 64);
    loop {
        let read = stream.total_in() as usize;
        stream.compress_vec(&chunk[read..], &mut out, flush).expect("deflate takes any bytes");
        // Room that is left means that nothing is held back.
        if stream.total_in() as usize == chunk.len() && out.len() < out.capacity() {
            return out;
        }
        out.reserve(chunk.len() / 4 + 64);
    }
}
