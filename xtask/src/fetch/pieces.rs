//! An archive cut into pieces that come side by side: which there are, and the files that hold what came before the bytes in front of it.

use crate::digest::Sha256;
use crate::files::{self, Error, Named};
use std::path::{Path, PathBuf};

/// Less is not worth a request.
const SMALLEST: u64 = 1 << 20;
/// More would leave one connection alone at the end.
const LARGEST: u64 = 32 << 20;

/// A run of bytes that one request brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its first byte in the archive.
    pub(super) start: u64,
    /// Bytes that are there already, from `start` on.
    pub(super) have: u64,
    /// The byte after its last.
    pub(super) end: u64,
}

impl Piece {
    /// The first byte that is missing.
    pub(super) fn next(self) -> u64 {
        self.start + self.have
    }

    /// Whether all of it is there.
    pub(super) fn is_whole(self) -> bool {
        self.next() >= self.end
    }
}

/// Cuts what is missing from byte `from` to `size` for so many connections; `kept` are `(start, length)` of pieces of an earlier run, sorted.
pub(super) fn plan(from: u64, size: u64, connections: u64, kept: &[(u64, u64)]) -> Vec<Piece> {
    let length = (size.saturating_sub(from) / (connections * 4).max(1)).clamp(SMALLEST, LARGEST);
    let mut pieces = Vec::new();
    let mut at = from;
    let fill = |pieces: &mut Vec<Piece>, at: u64, to: u64| {
        let mut start = at;
        while start < to {
            let end = (start + length).min(to);
            pieces.push(Piece { start, have: 0, end });
            start = end;
        }
    };
    for (index, &(start, have)) in kept.iter().enumerate() {
        if start + have <= at || start >= size {
            continue;
        }
        fill(&mut pieces, at, start);
        let next = kept.get(index + 1).map_or(size, |(start, _)| *start).min(size);
        let end = (start + length.max(have)).min(next).max(at);
        pieces.push(Piece { start, have: have.min(end - start), end });
        at = end;
    }
    fill(&mut pieces, at, size);
    pieces
}

/// `<16 hex>.<start>.piece` beside the partial file.
pub(super) fn path(folder: &Path, sha256: Sha256, start: u64) -> PathBuf {
    folder.join(format!("{}.{start}.piece", sha256.short()))
}

/// What an earlier run has left, as `(start, length)`, sorted.
pub(super) fn kept(folder: &Path, sha256: Sha256) -> Vec<(u64, u64)> {
    let prefix = format!("{}.", sha256.short());
    let start_of = |name: &str| name.strip_prefix(&prefix)?.strip_suffix(".piece")?.parse().ok();
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut kept: Vec<(u64, u64)> = files
        .filter_map(|file| {
            Some((start_of(&file.file_name().to_string_lossy())?, file.metadata().ok()?.len()))
        })
        .collect();
    kept.sort_unstable();
    kept
}

/// Removes all pieces of an archive.
pub(super) fn forget(folder: &Path, sha256: Sha256) -> Result<(), Error> {
    kept(folder, sha256)
        .into_iter()
        .try_for_each(|(start, _)| files::remove_tree(&path(folder, sha256, start)))
}

/// Adds bytes to the end of a piece's file.
pub(super) fn append(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    files::step();
    let file = std::fs::File::options().append(true).create(true).open(path);
    file.and_then(|mut file| std::io::Write::write_all(&mut file, bytes)).named("write", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn planned(from: u64, size: u64, kept: &[(u64, u64)]) -> Vec<(u64, u64, u64)> {
        plan(from, size, 2, kept).iter().map(|piece| (piece.start, piece.have, piece.end)).collect()
    }

    #[test]
    fn pieces_cover_what_is_missing() {
        assert_eq!(planned(0, 3 * MIB, &[]), [(0, 0, MIB), (MIB, 0, 2 * MIB), (2 * MIB, 0, 3 * MIB)]);
        assert_eq!(planned(5, MIB, &[]), [(5, 0, MIB)]);
        assert_eq!(planned(MIB, MIB, &[]), []);
        let large = plan(0, 4 << 30, 2, &[]);
        assert!(large.iter().all(|piece| piece.end - piece.start <= LARGEST));
    }

    #[test]
    fn pieces_of_an_earlier_run_are_used() {
        // Before, within and behind what is in front; one with a gap after it.
        let kept = [(0, MIB), (MIB, 700), (2 * MIB, MIB), (4 * MIB, 5)];
        assert_eq!(
            planned(MIB + 300, 6 * MIB, &kept),
            [
                (MIB, 700, 2 * MIB),
                (2 * MIB, MIB, 3 * MIB),
                (3 * MIB, 0, 4 * MIB),
                (4 * MIB, 5, 5 * MIB),
                (5 * MIB, 0, 6 * MIB)
            ]
        );
    }

    #[test]
    fn pieces_never_overlap_whatever_is_kept() {
        for kept in [&[(0, 9 * MIB)][..], &[(7, 3), (9, 20), (2 * MIB, 5 * MIB)], &[(5 * MIB, 1)]] {
            let pieces = plan(8, 3 * MIB, 3, kept);
            assert!(pieces[0].start <= 8, "{pieces:?}");
            assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start), "{pieces:?}");
            assert_eq!(pieces.last().map(|piece| piece.end), Some(3 * MIB), "{pieces:?}");
            assert!(pieces.iter().all(|piece| piece.next() <= piece.end), "{pieces:?}");
        }
    }
}
