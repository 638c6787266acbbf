//! Runs wave32 code objects of gfx11 and gfx12 on the CPU, and reports what a GPU would let pass: reads of what was never written, accesses out of
//! bounds, LDS races, divergent barriers, misaligned addresses, results that are used before they were waited for.
//!
//! ```no_run
//! use gfx_sim::{Disassembler, Launch, Memory, Program};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (path, tree) = (std::path::Path::new("scale.co"), std::path::Path::new("llvm"));
//! let bytes = std::fs::read(path)?;
//! let text = Disassembler::of_tree(tree).run(path, gfx::Target::Gfx1100)?;
//! let program = Program::load(&bytes, &text)?;
//! let mut memory = Memory::new();
//! let x = memory.read_write("x", &[1.0f32, 2.0, 3.0]);
//! let arguments = [x.to_le_bytes().as_slice(), &3u32.to_le_bytes()].concat();
//! let launch = Launch { kernel: "scale", grid: [1, 1, 1], block: [32, 1, 1], arguments: &arguments, dynamic_lds: 0 };
//! let counts = program.launch(&mut memory, &launch)?;
//! println!("{counts}\n{:?}", memory.numbers::<f32>(x));
//! # Ok(()) }
//! ```
//!
//! - [`Program`]: a code object, decoded once from what `llvm-objdump` prints
//! - [`Memory`]: buffers with exact bounds
//! - [`Fault`]: what a launch is stopped for, with kernel, wave, lane, address and line
//! - [`Counts`]: what was executed, by class and by opcode
//!
//! What it does not model: time, caches, the order of global memory accesses of different waves, hazards that `s_delay_alu`, `s_wait_alu` and
//! `s_waitcnt_depctr` are for, the driver. `docs/verification.md` says what a run proves.

mod counts;
mod decode;
mod disassembler;
mod error;
mod exec;
mod fault;
mod instruction;
mod isa;
mod launch;
mod lds;
mod memory;
mod number;
mod object;
mod operand;
mod pending;
mod program;
mod text;
mod wave;

pub use counts::{Class, Counts};
pub use disassembler::{Disassembler, libraries_of_tree};
pub use error::Error;
pub use fault::{Counter, Fault, FaultKind};
pub use launch::Launch;
pub use memory::{Memory, Plain};
pub use program::Program;
