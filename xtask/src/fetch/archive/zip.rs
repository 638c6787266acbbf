//! zip archives and wheels.

use super::{Refusal, TreeWriter, name};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

const S_IFMT: u32 = 0o170000;
const S_IFLNK: u32 = 0o120000;
const S_IFREG: u32 = 0o100000;
const S_IFDIR: u32 = 0o040000;
/// A link's target is a path; more than this is none.
const LONGEST_TARGET: u64 = 4096;

/// Unpacks every member of the archive in `file`.
pub(super) fn unpack(file: File, tree: &mut TreeWriter) -> Result<(), Refusal> {
    let archive = zip::ZipArchive::new(BufReader::new(file)).map_err(Refusal::unreadable)?;
    let start = archive.central_directory_start();
    let mut file = archive.into_inner();
    refuse_duplicates(&mut file, start)?;
    let mut archive = zip::ZipArchive::new(file).map_err(Refusal::unreadable)?;
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

/// The zip crate keeps the last of two members of one name and does not tell, so the names are read from the directory itself.
fn refuse_duplicates(file: &mut BufReader<File>, start: u64) -> Result<(), Refusal> {
    let mut names = BTreeSet::new();
    file.seek(SeekFrom::Start(start)).map_err(Refusal::unreadable)?;
    while let Some(name) = next_name(file).map_err(Refusal::unreadable)? {
        if let Some(name) = names.replace(name) {
            return Err(Refusal::Duplicate { member: name::printable(&String::from_utf8_lossy(&name)) });
        }
    }
    Ok(())
}

/// The name of the directory's next record, none at its end (APPNOTE 4.3.12).
fn next_name(file: &mut BufReader<File>) -> io::Result<Option<Vec<u8>>> {
    let mut signature = [0; 4];
    file.read_exact(&mut signature)?;
    if signature != *b"PK\x01\x02" {
        return Ok(None);
    }
    let mut record = [0; 42];
    file.read_exact(&mut record)?;
    let length = |at: usize| usize::from(u16::from_le_bytes([record[at], record[at + 1]]));
    let mut name = vec![0; length(24)];
    file.read_exact(&mut name)?;
    file.seek_relative(i64::try_from(length(26) + length(28)).unwrap_or(0))?;
    Ok(Some(name))
}
