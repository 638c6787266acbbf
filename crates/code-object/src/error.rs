//! Why bytes are no code object.

use gfx::Target;

/// Bytes that are no code object this project can use.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No 64-bit little-endian ELF file, or one that is cut or contradicts itself.
    #[error("failed to read the ELF file")]
    Elf(#[from] object::read::Error),
    /// An ELF file of another machine, e.g. a host program.
    #[error("the ELF file is for machine {machine}, not AMDGPU (224)")]
    Machine {
        /// `e_machine`.
        machine: u16,
    },
    /// An AMDGPU file for another operating system ABI (PAL, Mesa).
    #[error("the code object has OS ABI {os_abi}, not HSA (64)")]
    OsAbi {
        /// `EI_OSABI`.
        os_abi: u8,
    },
    /// A code object version that no key here is known for.
    #[error("the code object has ABI version {abi}, which is none of 2, 3 and 4 (code object v4, v5, v6)")]
    Version {
        /// `EI_ABIVERSION`.
        abi: u8,
    },
    /// e_flags of a GPU this project does not know.
    #[error("the code object's e_flags name the unknown machine 0x{mach:02x}")]
    Mach {
        /// `EF_AMDGPU_MACH`.
        mach: u32,
    },
    /// Symbols of functions that cover more than the file.
    #[error("the functions are together larger than the file, which has {file} bytes")]
    Functions {
        /// The file's length in bytes.
        file: u64,
    },
    /// No NT_AMDGPU_METADATA note.
    #[error("the code object has no metadata note")]
    NoMetadata,
    /// A metadata note that is no MessagePack document.
    #[error("failed to decode the metadata note")]
    MessagePack(#[from] rmpv::decode::Error),
    /// A key that is missing or holds something else.
    #[error("the metadata's `{key}` is not {expected}")]
    Metadata {
        /// The key.
        key: String,
        /// What it has to be.
        expected: &'static str,
    },
    /// `amdhsa.target` that names no known target.
    #[error("the metadata's target `{triple}` is not known")]
    UnknownTarget {
        /// The whole of `amdhsa.target`.
        triple: String,
        /// Why the name in it was refused.
        #[source]
        source: gfx::ParseError,
    },
    /// Header and metadata name different targets.
    #[error("the code object's e_flags say {flags}, its metadata says {metadata}")]
    TargetMismatch {
        /// From the ELF header.
        flags: Target,
        /// From the note.
        metadata: Target,
    },
    /// A kernel that the metadata lists and the symbol table does not have.
    #[error("kernel `{kernel}` has no descriptor: there is no symbol `{symbol}`")]
    NoDescriptor {
        /// The kernel.
        kernel: String,
        /// The missing symbol.
        symbol: String,
    },
    /// Two kernels of one name.
    #[error("the metadata lists kernel `{0}` twice")]
    DuplicateKernel(String),
}
