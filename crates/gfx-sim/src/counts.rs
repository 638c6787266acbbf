//! What a launch has executed.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

/// A kind of instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Matrix products.
    Wmma,
    /// The vector unit, functions and moves between lanes included.
    Valu,
    /// The scalar unit.
    Salu,
    /// Scalar loads.
    Smem,
    /// Global, buffer, flat and scratch memory.
    Vmem,
    /// LDS.
    Lds,
    /// Waits for counters.
    Wait,
    /// Branches, jumps and the end.
    Branch,
    /// Barriers.
    Barrier,
    /// Hints that change no result.
    Hint,
}

impl Class {
    /// All, in the order of the table.
    pub const ALL: [Self; 10] = [
        Self::Wmma,
        Self::Valu,
        Self::Salu,
        Self::Smem,
        Self::Vmem,
        Self::Lds,
        Self::Wait,
        Self::Branch,
        Self::Barrier,
        Self::Hint,
    ];

    /// As reports spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wmma => "wmma",
            Self::Valu => "valu",
            Self::Salu => "salu",
            Self::Smem => "smem",
            Self::Vmem => "vmem",
            Self::Lds => "lds",
            Self::Wait => "wait",
            Self::Branch => "branch",
            Self::Barrier => "barrier",
            Self::Hint => "hint",
        }
    }
}

/// Executed instructions of waves, by class, and by opcode.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Of each class, in the order of [`Class::ALL`].
    pub classes: [u64; 10],
    /// Of each opcode, with its encoding's suffix.
    pub opcodes: BTreeMap<String, u64>,
    /// Waves that ran.
    pub waves: u64,
}

impl Counts {
    /// Instructions of one class.
    pub fn of(&self, class: Class) -> u64 {
        self.classes[class as usize]
    }

    /// All instructions.
    pub fn instructions(&self) -> u64 {
        self.classes.iter().sum()
    }

    /// Instructions times the 32 lanes of a wave, whether they were on or not.
    pub fn lane_instructions(&self) -> u64 {
        32 * self.instructions()
    }
}

impl AddAssign<&Self> for Counts {
    fn add_assign(&mut self, other: &Self) {
        for (own, other) in self.classes.iter_mut().zip(other.classes) {
            *own += other;
        }
        for (opcode, count) in &other.opcodes {
            *self.opcodes.entry(opcode.clone()).or_default() += count;
        }
        self.waves += other.waves;
    }
}

impl fmt::Display for Counts {
    /// `wmma 64  valu 1200 …`, classes without any left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = Class::ALL.into_iter().filter(|class| self.of(*class) > 0);
        let words: Vec<String> =
            counted.map(|class| format!("{} {}", class.name(), self.of(class))).collect();
        f.write_str(&words.join("  "))
    }
}
