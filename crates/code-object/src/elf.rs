//! The ELF side: header, note, symbols.

use crate::Error;
use gfx::Target;
use object::LittleEndian as LE;
use object::elf::{EM_AMDGPU, FileHeader64, SHT_DYNSYM, STT_FUNC, STT_OBJECT};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, SectionTable, Sym};
use std::collections::{BTreeMap, BTreeSet};

const ELFOSABI_AMDGPU_HSA: u8 = 64;
const EF_AMDGPU_MACH: u32 = 0xff;
const NT_AMDGPU_METADATA: u32 = 32;
/// A bound on what one symbol may make us copy.
const LARGEST_CONSTANT: u64 = 256;

type Header = FileHeader64<LE>;

/// What the rest of the crate needs of an ELF file.
pub(crate) struct File<'data> {
    pub(crate) target: Target,
    pub(crate) version: u8,
    /// The note's MessagePack document.
    pub(crate) metadata: &'data [u8],
    pub(crate) symbols: BTreeSet<&'data str>,
    pub(crate) constants: BTreeMap<String, Vec<u8>>,
    /// The machine code of each function.
    pub(crate) code: BTreeMap<String, Vec<u8>>,
}

pub(crate) fn read(bytes: &[u8]) -> Result<File<'_>, Error> {
    let header = Header::parse(bytes)?;
    let machine = header.e_machine(LE);
    if machine != EM_AMDGPU {
        return Err(Error::Machine { machine: machine.0 });
    }
    let os_abi = header.e_ident().os_abi.0;
    if os_abi != ELFOSABI_AMDGPU_HSA {
        return Err(Error::OsAbi { os_abi });
    }
    let version = match header.e_ident().abi_version {
        abi @ 2..=4 => abi + 2,
        abi => return Err(Error::Version { abi }),
    };
    let mach = header.e_flags(LE).0 & EF_AMDGPU_MACH;
    let target = Target::from_mach(mach).ok_or(Error::Mach { mach })?;
    let Symbols { names, constants, code } = read_symbols(&header.sections(LE, bytes)?, bytes)?;
    Ok(File { target, version, metadata: find_metadata(header, bytes)?, symbols: names, constants, code })
}

/// The loader reads the note through the program headers, and so do we: section headers may be stripped.
fn find_metadata<'data>(header: &Header, bytes: &'data [u8]) -> Result<&'data [u8], Error> {
    for segment in header.program_headers(LE, bytes)? {
        let Some(mut notes) = segment.notes(LE, bytes)? else { continue };
        while let Some(note) = notes.next()? {
            if note.name() == b"AMDGPU" && note.n_type(LE).0 == NT_AMDGPU_METADATA {
                return Ok(note.desc());
            }
        }
    }
    Err(Error::NoMetadata)
}

struct Symbols<'data> {
    names: BTreeSet<&'data str>,
    constants: BTreeMap<String, Vec<u8>>,
    code: BTreeMap<String, Vec<u8>>,
}

fn read_symbols<'data>(
    sections: &SectionTable<'data, Header>,
    bytes: &'data [u8],
) -> Result<Symbols<'data>, Error> {
    let table = sections.symbols(LE, bytes, SHT_DYNSYM)?;
    let mut names = BTreeSet::new();
    let (mut constants, mut code) = (BTreeMap::new(), BTreeMap::new());
    let mut budget = Budget { file: bytes.len() as u64, left: bytes.len() as u64 };
    for symbol in table.iter() {
        // A name that is no UTF-8 is no name of ours.
        let Ok(name) = std::str::from_utf8(symbol.name(LE, table.strings())?) else { continue };
        if name.is_empty() || symbol.is_undefined(LE) {
            continue;
        }
        names.insert(name);
        let size = symbol.st_size(LE);
        let is_constant =
            symbol.st_type() == STT_OBJECT && !name.ends_with(".kd") && size <= LARGEST_CONSTANT;
        if is_constant && let Some(value) = value_of(symbol, size, sections, bytes)? {
            constants.insert(name.to_owned(), value);
        }
        if symbol.st_type() == STT_FUNC {
            budget.take(size)?;
            if let Some(value) = value_of(symbol, size, sections, bytes)? {
                code.insert(name.to_owned(), value);
            }
        }
    }
    Ok(Symbols { names, constants, code })
}

/// Bytes that functions may have together: those of the file. Symbols that share code would make us copy it any number of times.
struct Budget {
    file: u64,
    left: u64,
}

impl Budget {
    fn take(&mut self, size: u64) -> Result<(), Error> {
        self.left = self.left.checked_sub(size).ok_or(Error::Functions { file: self.file })?;
        Ok(())
    }
}

/// The bytes in the file that a symbol covers; `None` for .bss and for a symbol that reaches out of its section.
fn value_of(
    symbol: &impl Sym<Endian = LE, Word = u64>,
    size: u64,
    sections: &SectionTable<Header>,
    bytes: &[u8],
) -> Result<Option<Vec<u8>>, Error> {
    let Some(index) = symbol.st_shndx(LE).index() else { return Ok(None) };
    let section = sections.section(object::SectionIndex(index.into()))?;
    let Some(offset) = symbol.st_value(LE).checked_sub(section.sh_addr(LE)) else { return Ok(None) };
    let data = section.data(LE, bytes)?;
    let range = usize::try_from(offset).ok().zip(usize::try_from(size).ok());
    let value = range.and_then(|(start, len)| data.get(start..start.checked_add(len)?));
    Ok(value.map(<[u8]>::to_vec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_together_no_larger_than_the_file() {
        let mut budget = Budget { file: 100, left: 100 };
        assert!([60, 40, 0].into_iter().all(|size| budget.take(size).is_ok()));
        let error = budget.take(1).expect_err("more than there is");
        assert_eq!(error.to_string(), "the functions are together larger than the file, which has 100 bytes");
    }
}
