//! Reads a bare AMDGPU code object: what a device-only HIP compile leaves and what `hipModuleLoadData` takes.
//!
//! Everything is read from the bytes and nothing is believed twice: the target stands in the ELF header's flags and in the metadata note, and
//! the two have to agree. Input is hostile until parsed: any bytes give a [`CodeObject`] or a typed [`Error`].
//!
//! Layout and keys: LLVM's "User Guide for AMDGPU Backend", sections "ELF Code Object" and "Code Object Metadata".

mod elf;
mod error;
mod expected;
mod instructions;
mod metadata;
mod renamed;

pub use error::Error;
pub use expected::{Expected, Violation, violations};
pub use instructions::{Instruction, Kind, instructions};
pub use metadata::Kernel;
pub use renamed::renamed;

use gfx::Target;
use std::collections::{BTreeMap, BTreeSet};

/// One code object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeObject {
    /// What it was compiled for.
    pub target: Target,
    /// The code object version: 4, 5 or 6.
    pub version: u8,
    /// Its kernels, in the order of the metadata.
    pub kernels: Vec<Kernel>,
    constants: BTreeMap<String, Vec<u8>>,
    code: BTreeMap<String, Vec<u8>>,
    symbols: BTreeSet<String>,
}

impl CodeObject {
    /// Reads a whole file's bytes.
    ///
    /// # Errors
    /// [`Error`]: no ELF file, another machine's, an unknown target, two targets that disagree, or metadata that is missing or malformed.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let file = elf::read(bytes)?;
        let (target, kernels) = metadata::read(file.metadata)?;
        if target != file.target {
            return Err(Error::TargetMismatch { flags: file.target, metadata: target });
        }
        if let Some(kernel) = kernels.iter().find(|kernel| !file.symbols.contains(kernel.symbol.as_str())) {
            return Err(Error::NoDescriptor { kernel: kernel.name.clone(), symbol: kernel.symbol.clone() });
        }
        let symbols = file.symbols.into_iter().map(str::to_owned).collect();
        let elf::File { version, constants, code, .. } = file;
        Ok(Self { target, version, kernels, constants, code, symbols })
    }

    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// The bytes, little-endian, of a constant that the kernels' source exports:
    /// `extern "C" __device__ __attribute__((used)) const unsigned block = 64;`. Kernel descriptors and objects of more than 256 bytes are not
    /// constants in this sense.
    pub fn constant(&self, symbol: &str) -> Option<Vec<u8>> {
        self.constants.get(symbol).cloned()
    }

    /// The machine code of the kernel of this name.
    pub fn code(&self, kernel: &str) -> Option<&[u8]> {
        self.code.get(kernel).map(Vec::as_slice)
    }

    /// The names that the dynamic linker sees: kernels, their descriptors, and what else was exported.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        self.symbols.iter().map(String::as_str)
    }

    /// [`Self::constant`] of exactly four bytes, as a number.
    pub fn constant_u32(&self, symbol: &str) -> Option<u32> {
        let bytes = self.constants.get(symbol)?;
        Some(u32::from_le_bytes(bytes.as_slice().try_into().ok()?))
    }
}
