//! Archive formats and the rules that every member obeys before it touches the disk.

mod deb;
mod format;
mod links;
mod name;
mod refusal;
mod tar;
mod tree;
mod writers;
mod zip;
mod zstd;

pub(crate) use format::Format;
pub(crate) use refusal::Refusal;
pub(crate) use tree::{Limits, TreeWriter};

use std::fs::File;
use std::io::BufRead;

/// Unpacks a stream of any format but zip.
pub(crate) fn unpack_stream(
    format: Format,
    reader: impl BufRead,
    tree: &mut TreeWriter,
) -> Result<(), Refusal> {
    match format {
        Format::Deb => deb::unpack(reader, tree),
        _ => tar::unpack(format, reader, tree),
    }
}

/// Unpacks a zip archive, whose directory is at its end.
pub(crate) fn unpack_zip(file: File, tree: &mut TreeWriter) -> Result<(), Refusal> {
    zip::unpack(file, tree)
}
