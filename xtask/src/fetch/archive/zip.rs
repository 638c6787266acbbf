//! zip archives and wheels.

use super::{Refusal, TreeWriter};
use std::fs::File;
use std::io::{BufReader, Read};

const S_IFMT: u32 = 0o170000;
const S_IFLNK: u32 = 0o120000;
const S_IFREG: u32 = 0o100000;
const S_IFDIR: u32 = 0o040000;
/// A link's target is a path; more than this is none.
const LONGEST_TARGET: u64 = 4096;

/// Unpacks every member of the archive in `file`.
pub(super) fn unpack(file: File, tree: &mut TreeWriter) -> Result<(), Refusal> {
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(Refusal::unreadable)?;
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).map_err(Refusal::unreadable)?;
        let name = member.name_raw().to_vec();
        let mode = member.unix_mode().unwrap_or(0);
        match mode & S_IFMT {
            _ if member.is_dir() => tree.folder(&name)?,
            S_IFLNK => {
                let mut target = Vec::new();
                (&mut member).take(LONGEST_TARGET).read_to_end(&mut target).map_err(Refusal::unreadable)?;
                tree.symlink(&name, &target)?;
            }
            0 | S_IFREG | S_IFDIR => tree.file(&name, mode & 0o111 != 0, &mut member)?,
            other => {
                let member = String::from_utf8_lossy(&name).into_owned();
                return Err(Refusal::SpecialFile { member, kind: format!("file of type {other:o}") });
            }
        }
    }
    Ok(())
}
