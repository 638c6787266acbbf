//! A code object that was decoded and can be launched.

use crate::Error;
use crate::decode::{Generation, decode};
use crate::instruction::{Instruction, Op};
use crate::object::{Kernel, Object};
use crate::text;
use gfx::{Target, Wmma};
use std::collections::BTreeMap;

/// A decoded code object. It is decoded once and can be launched any number of times.
#[derive(Debug)]
pub struct Program {
    pub(crate) object: Object,
    pub(crate) instructions: Vec<Instruction>,
    /// The text of each instruction.
    pub(crate) lines: Vec<String>,
    /// By address: the instruction at each word, or `u32::MAX`.
    index: Vec<u32>,
    first: u64,
}

impl Program {
    /// Loads a code object with its disassembly (`llvm-objdump -d`).
    ///
    /// # Errors
    /// [`Error`]: the bytes are no code object for gfx11 or gfx12, or the text is not its disassembly. An opcode that is not known is no error
    /// here: it is a fault when it is executed, and [`Self::unsupported`] lists them.
    pub fn load(bytes: &[u8], disassembly: &str) -> Result<Self, Error> {
        let object = Object::read(bytes)?;
        let generation = match object.target.wmma() {
            Some(Wmma::Gfx12) => Generation::Gfx12,
            _ => Generation::Gfx11,
        };
        let lines = text::lines(disassembly);
        let (Some(first), Some(last)) = (lines.first().map(|line| line.pc), lines.last().map(|line| line.pc))
        else {
            return Err(Error::NoInstructions);
        };
        let size = last.checked_sub(first).filter(|size| *size < 1 << 28).ok_or(Error::NoInstructions)?;
        let mut index = vec![u32::MAX; size as usize / 4 + 1];
        for (i, line) in lines.iter().enumerate() {
            if let Some(slot) = index.get_mut((line.pc.wrapping_sub(first) / 4) as usize) {
                *slot = i as u32;
            }
        }
        let instructions = lines.iter().map(|line| decode(line, generation)).collect();
        let lines = lines.into_iter().map(|line| line.text).collect();
        Ok(Self { object, instructions, lines, index, first })
    }

    /// What it was compiled for.
    pub fn target(&self) -> Target {
        self.object.target
    }

    /// The bytes that decide what it computes (code, constants, descriptors), without those that name the target: code objects for two
    /// targets of one generation with the same body do the same.
    pub fn body(&self) -> &[u8] {
        &self.object.body
    }

    /// Its kernels' names.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.object.kernels.iter().map(|kernel| kernel.name.as_str())
    }

    /// Opcodes that are not known, each with the address of its first use; empty: all are.
    pub fn unsupported(&self) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        for instruction in &self.instructions {
            if let Op::Unsupported(what) = &instruction.op {
                found.entry(what.clone()).or_insert(instruction.pc);
            }
        }
        found
    }

    /// The instructions of a kernel as text, each with its address; from its entry to the last that belongs to it.
    ///
    /// # Errors
    /// [`Error::NoKernel`].
    pub fn lines(&self, kernel: &str) -> Result<Vec<(u64, &str)>, Error> {
        let entry = self.kernel(kernel)?.entry;
        let next = self.object.kernels.iter().map(|k| k.entry).filter(|other| *other > entry).min();
        let all = self.instructions.iter().zip(&self.lines).map(|(i, line)| (i.pc, line.as_str()));
        Ok(all.filter(|(pc, _)| *pc >= entry && next.is_none_or(|next| *pc < next)).collect())
    }

    pub(crate) fn kernel(&self, name: &str) -> Result<&Kernel, Error> {
        let found = self.object.kernels.iter().find(|kernel| kernel.name == name);
        found.ok_or_else(|| Error::NoKernel {
            kernel: name.to_owned(),
            known: self.kernels().map(str::to_owned).collect(),
        })
    }

    /// Static LDS of a kernel's workgroup, in bytes.
    ///
    /// # Errors
    /// [`Error::NoKernel`].
    pub fn lds(&self, kernel: &str) -> Result<u32, Error> {
        self.kernel(kernel).map(|kernel| kernel.lds)
    }

    /// The number of the instruction at an address.
    pub(crate) fn at(&self, pc: u64) -> Option<usize> {
        let offset = pc.checked_sub(self.first)?;
        if !offset.is_multiple_of(4) {
            return None;
        }
        self.index.get((offset / 4) as usize).filter(|i| **i != u32::MAX).map(|i| *i as usize)
    }
}
