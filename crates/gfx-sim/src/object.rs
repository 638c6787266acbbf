//! The parts of a code object that a launch needs: its image in memory, kernel descriptors, hidden arguments.

use crate::Error;
use gfx::Target;
use object::LittleEndian as LE;
use object::elf::{FileHeader64, PT_LOAD, SHF_ALLOC, SHT_DYNSYM, SHT_PROGBITS};
use object::read::elf::{FileHeader, ProgramHeader, Rela, SectionHeader, Sym};
use rmpv::Value;

/// One kernel, from its descriptor ("Kernel Descriptor" in LLVM's AMDGPU guide) and the metadata note.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    /// Address of its first instruction in the code object.
    pub(crate) entry: u64,
    /// Static LDS of a workgroup and scratch of a lane, in bytes.
    pub(crate) lds: u32,
    pub(crate) scratch: u32,
    pub(crate) kernarg_size: u32,
    pub(crate) max_workgroup: u32,
    rsrc1: u32,
    rsrc2: u32,
    properties: u32,
    pub(crate) hidden: Vec<Hidden>,
}

/// An argument that the runtime fills in.
#[derive(Debug, Clone)]
pub(crate) struct Hidden {
    pub(crate) kind: String,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

impl Kernel {
    /// MODE as the descriptor sets it: rounding, denormals.
    pub(crate) fn mode(&self) -> u32 {
        self.rsrc1 >> 12 & 0xff
    }

    pub(crate) fn user_registers(&self) -> u8 {
        (self.rsrc2 >> 1 & 31) as u8
    }

    /// Whether a scalar register gets the workgroup's x, y and z (gfx11; gfx12 has them in ttmp registers).
    pub(crate) fn workgroup_registers(&self) -> [bool; 3] {
        [7, 8, 9].map(|bit| self.rsrc2 >> bit & 1 != 0)
    }

    /// What the user registers start with, in this order and with these numbers of registers.
    pub(crate) fn user_data(&self) -> Vec<(UserData, u8)> {
        let all = [
            (0, UserData::Other, 4),
            (1, UserData::DispatchPacket, 2),
            (2, UserData::Other, 2),
            (3, UserData::Arguments, 2),
            (4, UserData::Other, 2),
            (5, UserData::Other, 2),
            (6, UserData::ScratchSize, 1),
        ];
        let has = |bit: &u32| self.properties >> bit & 1 != 0;
        all.into_iter().filter(|(bit, ..)| has(bit)).map(|(_, what, count)| (what, count)).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserData {
    DispatchPacket,
    Arguments,
    ScratchSize,
    /// Queue and the like, which kernels of ours do not ask for: left undefined.
    Other,
}

/// A code object's contents.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) target: Target,
    /// What decides what it computes: the contents of its sections in memory but for notes and symbols, which name the target.
    pub(crate) body: Vec<u8>,
    /// Its segments as they lie in memory, from address 0 on.
    pub(crate) image: Vec<u8>,
    /// Places in the image where the address of the image is added: (place, addend).
    pub(crate) relative: Vec<(u64, i64)>,
    pub(crate) kernels: Vec<Kernel>,
}

type Header = FileHeader64<LE>;

impl Object {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let header = Header::parse(bytes)?;
        let mach = header.e_flags(LE).0 & 0xff;
        let known = Target::from_mach(mach);
        let target = known.ok_or_else(|| Error::Target { target: format!("machine {mach:#x}") })?;
        if target.wmma().is_none() {
            return Err(Error::Target { target: target.to_string() });
        }
        let (image, body) = (image(header, bytes)?, body(header, bytes)?);
        let relative = relocations(header, bytes)?;
        let notes = metadata(header, bytes)?;
        let kernels = kernels(header, bytes, &image, &notes)?;
        Ok(Self { target, body, image, relative, kernels })
    }
}

fn image(header: &Header, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut image = Vec::new();
    for segment in header.program_headers(LE, bytes)? {
        if segment.p_type(LE) != PT_LOAD {
            continue;
        }
        let data =
            segment.data(LE, bytes).map_err(|()| Error::Metadata("a segment outside of the file".into()))?;
        let (start, size) = (segment.p_vaddr(LE) as usize, segment.p_memsz(LE) as usize);
        // A code object of ours is far below this; a broken one must not take the machine's memory.
        if start.saturating_add(size) > 256 << 20 || data.len() > size {
            return Err(Error::Metadata("a segment of an impossible size".into()));
        }
        image.resize(image.len().max(start + size), 0);
        image[start..start + data.len()].copy_from_slice(data);
    }
    Ok(image)
}

fn body(header: &Header, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    for section in header.sections(LE, bytes)?.iter() {
        let is_in_memory = section.sh_flags(LE).0 & SHF_ALLOC.0 != 0;
        if is_in_memory && section.sh_type(LE) == SHT_PROGBITS {
            let data = section.data(LE, bytes)?;
            body.extend((data.len() as u64).to_le_bytes());
            body.extend(data);
        }
    }
    Ok(body)
}

fn relocations(header: &Header, bytes: &[u8]) -> Result<Vec<(u64, i64)>, Error> {
    const R_AMDGPU_ABS64: u32 = 3;
    const R_AMDGPU_RELATIVE64: u32 = 13;
    let sections = header.sections(LE, bytes)?;
    let symbols = sections.symbols(LE, bytes, SHT_DYNSYM)?;
    let mut relative = Vec::new();
    for section in sections.iter() {
        let Some((entries, _)) = section.rela(LE, bytes)? else { continue };
        for entry in entries {
            let addend = entry.r_addend(LE);
            match entry.r_type(LE, false).0 {
                R_AMDGPU_RELATIVE64 => relative.push((entry.r_offset(LE), addend)),
                R_AMDGPU_ABS64 => {
                    let index = object::SymbolIndex(entry.r_sym(LE, false) as usize);
                    let value = symbols.symbol(index)?.st_value(LE);
                    relative.push((entry.r_offset(LE), addend.wrapping_add(value as i64)));
                }
                other => return Err(Error::Relocation(other)),
            }
        }
    }
    Ok(relative)
}

fn metadata(header: &Header, bytes: &[u8]) -> Result<Value, Error> {
    for segment in header.program_headers(LE, bytes)? {
        let Some(mut notes) = segment.notes(LE, bytes)? else { continue };
        while let Some(note) = notes.next()? {
            if note.name() == b"AMDGPU" {
                let value = rmpv::decode::read_value_with_max_depth(&mut note.desc(), 32);
                return value.map_err(|error| Error::Metadata(error.to_string()));
            }
        }
    }
    Err(Error::Metadata("there is no AMDGPU note".into()))
}

fn entry<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.as_map()?.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
}

fn text(value: &Value, key: &str) -> Result<String, Error> {
    let text = entry(value, key).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| Error::Metadata(format!("{key} is missing")))
}

fn number(value: &Value, key: &str) -> Result<u32, Error> {
    let number = entry(value, key).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| Error::Metadata(format!("{key} is missing")))
}

fn kernels(header: &Header, bytes: &[u8], image: &[u8], notes: &Value) -> Result<Vec<Kernel>, Error> {
    let symbols = header.sections(LE, bytes)?.symbols(LE, bytes, SHT_DYNSYM)?;
    let address = |name: &str| {
        let found = symbols
            .iter()
            .find(|symbol| symbol.name(LE, symbols.strings()).is_ok_and(|n| n == name.as_bytes()));
        found.map(|symbol| symbol.st_value(LE))
    };
    let list = entry(notes, "amdhsa.kernels").and_then(Value::as_array);
    let list = list.ok_or_else(|| Error::Metadata("amdhsa.kernels is missing".into()))?;
    let mut kernels = Vec::new();
    for kernel in list {
        let name = text(kernel, ".name")?;
        let lanes = number(kernel, ".wavefront_size")?;
        if lanes != 32 {
            return Err(Error::WaveSize { kernel: name, lanes });
        }
        let symbol = text(kernel, ".symbol")?;
        let at = address(&symbol).ok_or_else(|| Error::Metadata(format!("{symbol} is missing")))?;
        let word = |offset: u64| {
            let start = (at + offset) as usize;
            let bytes = image.get(start..start + 4).and_then(|bytes| bytes.try_into().ok());
            bytes
                .map(u32::from_le_bytes)
                .ok_or_else(|| Error::Metadata(format!("{symbol} is outside of the image")))
        };
        let offset = i64::from(word(16)?) | i64::from(word(20)?) << 32;
        kernels.push(Kernel {
            entry: at.wrapping_add_signed(offset),
            lds: word(0)?,
            scratch: word(4)?,
            kernarg_size: word(8)?,
            max_workgroup: number(kernel, ".max_flat_workgroup_size")?,
            rsrc1: word(48)?,
            rsrc2: word(52)?,
            properties: word(56)? & 0xffff,
            hidden: hidden(kernel)?,
            name,
        });
    }
    Ok(kernels)
}

fn hidden(kernel: &Value) -> Result<Vec<Hidden>, Error> {
    let arguments = entry(kernel, ".args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut found = Vec::new();
    for argument in arguments {
        let kind = text(argument, ".value_kind")?;
        if let Some(kind) = kind.strip_prefix("hidden_") {
            let (offset, size) = (number(argument, ".offset")? as usize, number(argument, ".size")? as usize);
            found.push(Hidden { kind: kind.to_owned(), offset, size });
        }
    }
    Ok(found)
}
