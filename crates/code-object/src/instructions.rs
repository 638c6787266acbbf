//! The instructions of a kernel, told apart by their encodings: where each begins, how long it is, and which of a few kinds it is.
//!
//! Encodings: AMD, "RDNA3 Instruction Set Architecture" and "RDNA4 Instruction Set Architecture", chapter "Microcode Formats". This is no
//! disassembler: it answers what a build gate and a table of a kernel's code ask, without a program that would have to be found.

use gfx::Wmma;

/// What an instruction is, as far as anybody here asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A matrix product of a wave (`v_wmma_*`).
    Wmma,
    /// Other work of the vector unit.
    Vector,
    /// Work of the scalar unit, and loads into its registers.
    Scalar,
    /// A conditional or unconditional branch; the distance is in bytes from its own start.
    Branch {
        /// Negative: a loop.
        distance: i64,
    },
    /// Waits, barriers, hints, the end.
    Control,
    /// Reads and writes LDS.
    Lds,
    /// Loads straight from memory into LDS.
    LoadToLds,
    /// Reads and writes memory.
    Memory,
    /// Nothing that the manuals list.
    Unknown,
}

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// Bytes from the start of the kernel.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    /// What it is.
    pub kind: Kind,
}

/// A literal constant follows the instruction.
const LITERAL: u32 = 255;
/// DPP16, DPP8 and DPP8 with fetch-inactive: a word with the lanes follows.
const LANES: [u32; 3] = [250, 233, 234];

fn bits(word: u32, high: u32, low: u32) -> u32 {
    word >> low & ((1 << (high - low + 1)) - 1)
}

/// The instructions of `code`, from its first byte to its last whole one.
pub fn instructions(code: &[u8], wmma: Wmma) -> Vec<Instruction> {
    let (words, _) = code.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let (kind, length) = decode(words[at], words.get(at + 1).copied().unwrap_or(0), wmma);
        all.push(Instruction { offset: 4 * at, size: 4 * length, kind });
        at += length;
    }
    all
}

/// Kind and length in words.
fn decode(first: u32, second: u32, wmma: Wmma) -> (Kind, usize) {
    let gfx12 = wmma == Wmma::Gfx12;
    let extra = |is_there: bool, words: usize| words + usize::from(is_there);
    let source0 = bits(first, 8, 0);
    match first >> 26 {
        // Vector: VOPC and VOP1 are VOP2's last opcodes. v_fmamk and v_fmaak (0x2c, 0x2d, and 0x37, 0x38 for f16) always have their constant.
        word if word < 0x20 => {
            let always = matches!(bits(first, 30, 25), 0x2c | 0x2d | 0x37 | 0x38);
            (Kind::Vector, extra(always || source0 == LITERAL || LANES.contains(&source0), 1))
        }
        0x33 if bits(first, 25, 24) == 0 => {
            let sources = [bits(second, 8, 0), bits(second, 17, 9), bits(second, 26, 18)];
            // RDNA4 adds fp8 and sparse products.
            let last = if gfx12 { 0x5a } else { 0x45 };
            let is_product = (0x40..=last).contains(&bits(first, 22, 16));
            let kind = if is_product { Kind::Wmma } else { Kind::Vector };
            (kind, extra(sources.contains(&LITERAL) || LANES.contains(&sources[0]), 2))
        }
        0x33 if bits(first, 25, 24) == 1 => (Kind::Vector, 2), // VINTERP
        0x33 if bits(first, 25, 24) == 2 => (Kind::Lds, 1),    // LDSDIR, VDSDIR
        0x35 => {
            let sources = [bits(second, 8, 0), bits(second, 17, 9), bits(second, 26, 18)];
            (Kind::Vector, extra(sources.contains(&LITERAL) || LANES.contains(&sources[0]), 2))
        }
        0x32 => {
            // VOPD: two VOP2-like halves; fmaak (1) and fmamk (2) have their constant.
            let (x, y) = (bits(first, 25, 22), bits(first, 21, 17));
            let literal = [x, y].iter().any(|op| matches!(op, 1 | 2));
            (Kind::Vector, extra(literal || source0 == LITERAL || bits(second, 8, 0) == LITERAL, 2))
        }
        0x36 => (Kind::Lds, 2),
        0x37 if !gfx12 => (Kind::Memory, 2),
        0x3b if gfx12 => (Kind::Memory, 3), // VFLAT, VGLOBAL, VSCRATCH
        0x31 if gfx12 => (Kind::Memory, 3), // VBUFFER
        0x34 | 0x39 if gfx12 => (Kind::Memory, 3),
        // buffer_load_lds_*: LLVM still has the encodings, the chips do not have the path.
        0x38 if !gfx12 => {
            let to_lds = matches!(bits(first, 25, 18), 0x2d..=0x32);
            (if to_lds { Kind::LoadToLds } else { Kind::Memory }, 2)
        }
        0x3a if !gfx12 => (Kind::Memory, 2),
        0x3c if !gfx12 => (Kind::Memory, 2 + usize::from(bits(first, 0, 0) == 1)),
        0x3d => (Kind::Scalar, 2), // SMEM
        0x3e => (Kind::Memory, 2), // exports
        // Scalar: SOP1, SOPC and SOPP are special cases of SOPK, and that of SOP2.
        word if word & 0x30 == 0x20 => scalar(first),
        _ => (Kind::Unknown, 1),
    }
}

fn scalar(first: u32) -> (Kind, usize) {
    let (low, high) = (bits(first, 7, 0), bits(first, 15, 8));
    let with = |literal: bool| (Kind::Scalar, 1 + usize::from(literal));
    match first >> 23 {
        0x17d => with(low == LITERAL),
        0x17e => with(low == LITERAL || high == LITERAL),
        // s_branch 32, s_cbranch_* 33 to 38 (s_cbranch_cdbg* up to 42); the distance counts words from the next instruction.
        0x17f => match bits(first, 22, 16) {
            32..=42 => {
                let words = i64::from(bits(first, 15, 0) as u16 as i16);
                (Kind::Branch { distance: 4 * (words + 1) }, 1)
            }
            _ => (Kind::Control, 1),
        },
        // s_setreg_imm32_b32 has its constant.
        sopk if sopk >> 5 == 0xb => with(bits(first, 27, 23) == 19),
        // s_fmaak_f32 and s_fmamk_f32 have theirs.
        _ => with(low == LITERAL || high == LITERAL || matches!(bits(first, 29, 23), 69 | 70)),
    }
}
