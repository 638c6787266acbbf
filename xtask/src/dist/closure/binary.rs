//! What the headers of a PE or ELF file say about the libraries that it needs.

use object::LittleEndian as LE;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME, EM_386, EM_AARCH64, EM_X86_64, FileHeader64};
use object::pe::{
    IMAGE_FILE_MACHINE_AMD64, IMAGE_FILE_MACHINE_ARM64, IMAGE_FILE_MACHINE_I386, ImageNtHeaders64,
};
use object::read::elf::FileHeader;
use object::read::pe::{ExportTarget, ImageNtHeaders, PeFile, PeFile64};
use object::{FileKind, ReadRef};
use std::fmt;

/// A program or a shared library.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Binary {
    /// What it runs on.
    pub(crate) machine: Machine,
    /// In the order of the headers, each name once.
    pub(crate) links: Vec<Link>,
    /// The name that others link to (ELF).
    pub(crate) soname: Option<String>,
    /// DT_RUNPATH, or DT_RPATH where there is no RUNPATH, split at colons.
    pub(crate) runpath: Vec<String>,
}

/// A processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Machine {
    /// x86-64, which every release is for.
    #[default]
    X86_64,
    /// 32-bit x86.
    X86,
    /// 64-bit ARM.
    Arm64,
    /// Another one, by the header's number.
    Other(u16),
}

/// A library that is needed, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    /// As it is written.
    pub(crate) name: String,
    /// How.
    pub(crate) how: How,
}

/// How a library is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// PE import table, or ELF NEEDED: loaded at the start.
    Import,
    /// PE delay import: loaded at the first call.
    Delay,
    /// A PE export that is another library's function.
    Forward,
    /// By name, while it runs.
    Loaded,
}

impl Binary {
    /// Reads the headers; `None`: neither PE nor ELF. `data` is read where the headers point to and not as a whole.
    pub(crate) fn read<'data, R: ReadRef<'data>>(data: R) -> object::Result<Option<Self>> {
        let Ok(kind) = FileKind::parse(data) else { return Ok(None) };
        let of_other = |machine| Self { machine, ..Self::default() };
        match kind {
            FileKind::Pe64 => read_pe(data).map(Some),
            FileKind::Pe32 => Ok(Some(of_other(Machine::X86))),
            FileKind::Elf64 => read_elf(data),
            FileKind::Elf32 => Ok(Some(of_other(Machine::X86))),
            _ => Ok(None),
        }
    }

    fn add(&mut self, name: &[u8], how: How) {
        let name = String::from_utf8_lossy(name).into_owned();
        if !self.links.iter().any(|link| link.name.eq_ignore_ascii_case(&name)) {
            self.links.push(Link { name, how });
        }
    }
}

fn read_pe<'data, R: ReadRef<'data>>(data: R) -> object::Result<Binary> {
    let file: PeFile64<'data, R> = PeFile::<ImageNtHeaders64, R>::parse(data)?;
    let machine = match file.nt_headers().file_header().machine.get(LE) {
        IMAGE_FILE_MACHINE_AMD64 => Machine::X86_64,
        IMAGE_FILE_MACHINE_I386 => Machine::X86,
        IMAGE_FILE_MACHINE_ARM64 => Machine::Arm64,
        other => Machine::Other(other.0),
    };
    let mut binary = Binary { machine, ..Binary::default() };
    let sections = file.section_table();
    if let Some(table) = file.import_table()? {
        let mut descriptors = table.descriptors()?;
        while let Some(descriptor) = descriptors.next()? {
            binary.add(table.name(descriptor.name.get(LE))?, How::Import);
        }
    }
    if let Some(table) = file.data_directories().delay_load_import_table(data, &sections)? {
        let mut descriptors = table.descriptors()?;
        while let Some(descriptor) = descriptors.next()? {
            binary.add(table.name(descriptor.dll_name_rva.get(LE))?, How::Delay);
        }
    }
    if let Some(table) = file.export_table()? {
        for export in table.exports()? {
            // The forwarder names the library without its ending.
            if let ExportTarget::ForwardByName(name, _) | ExportTarget::ForwardByOrdinal(name, _) =
                export.target
            {
                binary.add(&[name, b".dll"].concat(), How::Forward);
            }
        }
    }
    Ok(binary)
}

fn read_elf<'data, R: ReadRef<'data>>(data: R) -> object::Result<Option<Binary>> {
    let header = FileHeader64::<LE>::parse(data)?;
    let machine = match header.e_machine(LE) {
        EM_X86_64 => Machine::X86_64,
        EM_386 => Machine::X86,
        EM_AARCH64 => Machine::Arm64,
        // A code object is an ELF file too, and no library of the host.
        object::elf::EM_AMDGPU => return Ok(None),
        other => Machine::Other(other.0),
    };
    let mut binary = Binary { machine, ..Binary::default() };
    let sections = header.sections(LE, data)?;
    let dynamic = sections.dynamic_table(LE, data)?;
    let split = |text: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(text).split(':').map(str::to_owned).collect()
    };
    let mut rpath = Vec::new();
    for entry in &dynamic {
        match entry.tag {
            DT_NEEDED => binary.add(dynamic.string(entry)?, How::Import),
            DT_SONAME => binary.soname = Some(String::from_utf8_lossy(dynamic.string(entry)?).into_owned()),
            DT_RUNPATH => binary.runpath = split(dynamic.string(entry)?),
            DT_RPATH => rpath = split(dynamic.string(entry)?),
            _ => {}
        }
    }
    if binary.runpath.is_empty() {
        binary.runpath = rpath;
    }
    Ok(Some(binary))
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Machine::X86_64 => f.write_str("x86-64"),
            Machine::X86 => f.write_str("32-bit x86"),
            Machine::Arm64 => f.write_str("ARM64"),
            Machine::Other(number) => write!(f, "machine {number:#06x}"),
        }
    }
}
