//! What keeps a program from being loaded or launched.

use std::path::PathBuf;

/// A program that cannot be loaded or launched.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bytes are no ELF file, or a broken one.
    #[error("failed to read the code object: {0}")]
    Elf(#[from] object::read::Error),
    /// The metadata note is missing or malformed.
    #[error("failed to read the code object's metadata: {0}")]
    Metadata(String),
    /// The interpreter knows gfx11 and gfx12.
    #[error("{target} has no interpreter here; gfx11 and gfx12 have")]
    Target {
        /// The target, or the machine number where it is not known.
        target: String,
    },
    /// The code is for waves of 64 lanes.
    #[error("{kernel} is compiled for waves of {lanes} lanes; the interpreter has waves of 32")]
    WaveSize {
        /// The kernel.
        kernel: String,
        /// Its lanes.
        lanes: u32,
    },
    /// The disassembly has no instruction.
    #[error("the disassembly has no instructions: it is llvm-objdump -d's")]
    NoInstructions,
    /// A relocation of a kind that is not known.
    #[error("relocation of type {0}")]
    Relocation(u32),
    /// There is no such kernel.
    #[error("no kernel {kernel}; there are {}", .known.join(", "))]
    NoKernel {
        /// What was asked for.
        kernel: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A launch that the kernel does not allow.
    #[error("{kernel}: {what}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// What does not fit.
        what: String,
    },
    /// llvm-objdump did not start or did not end well.
    #[error("failed to run {}: {message}", .program.display())]
    Disassembler {
        /// The program.
        program: PathBuf,
        /// What it said.
        message: String,
    },
    /// The launch was stopped.
    #[error(transparent)]
    Fault(#[from] Box<crate::Fault>),
}
