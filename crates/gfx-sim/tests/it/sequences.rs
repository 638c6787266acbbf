//! Random sequences of instructions of one class, and what plain Rust makes of them.

use crate::assemble::{assemble, launch, prologue, wait};
use gfx::Target;
use gfx_sim::Memory;

pub(crate) const TARGETS: [Target; 2] = [Target::Gfx1100, Target::Gfx1201];
/// Sequences of a class.
pub(crate) const SEQUENCES: usize = 300;

/// SplitMix64: the same sequences on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
}

/// An opcode: its text with `D`, `A`, `B`, `C` for the operands, how many sources it has, and what it does in Rust.
pub(crate) type Opcode = (&'static str, usize, fn(u64, u64, u64) -> u64);

/// What a class needs beside its opcodes.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) opcodes: &'static [Opcode],
    /// 32-bit registers of a value: 1 or 2.
    pub(crate) words: usize,
    /// `v` or `s`.
    pub(crate) file: char,
    /// Makes an input that is worth computing with of random bits.
    pub(crate) input: fn(u64) -> u64,
    /// Whether two results are the same: of NaNs, any is.
    pub(crate) same: fn(u64, u64) -> bool,
    pub(crate) targets: &'static [Target],
}

/// Four values live in registers 8, 10, 12 and 14 of the file; a sequence of one to four opcodes changes them, and the last result is stored.
pub(crate) fn check(class: &Class) {
    for &target in class.targets {
        let mut random = Random(0x5eed ^ class.name.len() as u64);
        let mut body = prologue(target);
        let mut expected = Vec::new();
        let lanes = if class.file == 'v' { 32 } else { 1 };
        let values: Vec<[u64; 4]> =
            (0..lanes).map(|_| std::array::from_fn(|_| (class.input)(random.bits()))).collect();
        let mut told = Vec::new();
        for sequence in 0..SEQUENCES {
            body += &load(class, target);
            let mut now = values.clone();
            let mut last = 0;
            let mut text = String::new();
            for _ in 0..=random.below(4) {
                let (template, sources, run) = class.opcodes[random.below(class.opcodes.len())];
                let (to, from) = (random.below(4), [random.below(4), random.below(4), random.below(4)]);
                text += &(spell(class, template, to, &from[..sources]) + "\n");
                for lane in &mut now {
                    lane[to] = run(lane[from[0]], lane[from[1]], lane[from[2]]);
                }
                last = to;
            }
            body += &text;
            body += &store(class, sequence, last);
            told.push(text);
            expected.push(now.iter().map(|lane| lane[last]).collect::<Vec<u64>>());
        }
        let program = assemble(target, &body);
        let mut memory = Memory::new();
        let words = |value: u64| [value as u32, (value >> 32) as u32];
        // [value, word, lane]
        let input: Vec<u32> = (0..4)
            .flat_map(|i| (0..2).map(move |word| (i, word)))
            .flat_map(|(i, word)| (0..32).map(move |lane| (i, word, lane)))
            .map(|(i, word, lane)| words(values[lane % lanes][i])[word])
            .collect();
        let input = memory.read_only("input", &input);
        let output = memory.output::<u32>("output", SEQUENCES * 64);
        launch(&program, &mut memory, 32, input, output)
            .unwrap_or_else(|fault| panic!("{}: {fault}", class.name));
        let found = memory.numbers::<u32>(output);
        for (sequence, expected) in expected.iter().enumerate() {
            for (lane, expected) in expected.iter().enumerate() {
                let word = |word: usize| u64::from(found[sequence * 64 + 32 * word + lane]);
                let found = word(0) | if class.words == 2 { word(1) << 32 } else { 0 };
                assert!(
                    (class.same)(found, *expected),
                    "{} {target} lane {lane}: {found:#x}, Rust says {expected:#x}; of {:x?}:\n{}",
                    class.name,
                    values[lane],
                    told[sequence]
                );
            }
        }
    }
}

fn load(class: &Class, target: Target) -> String {
    let mut text = String::new();
    for i in 0..4 {
        for word in 0..class.words {
            let (register, offset) = (8 + 2 * i + word, (2 * i + word) * 128);
            text += &match class.file {
                'v' => format!("global_load_b32 v{register}, v0, s[4:5] offset:{offset}\n"),
                _ => format!("s_load_b32 s{register}, s[4:5], {offset:#x}\n"),
            };
        }
    }
    text + wait(target)
}

fn store(class: &Class, sequence: usize, value: usize) -> String {
    let mut text = format!("s_mov_b32 s20, {}\nv_add_nc_u32 v1, s20, v0\n", sequence * 256);
    for word in 0..class.words {
        let register = 8 + 2 * value + word;
        if class.file == 's' {
            text += &format!("v_mov_b32 v{register}, s{register}\n");
        }
        text += &format!("global_store_b32 v1, v{register}, s[6:7] offset:{}\n", word * 128);
    }
    text
}

fn spell(class: &Class, template: &str, to: usize, from: &[usize]) -> String {
    let name = |value: usize| {
        let first = 8 + 2 * value;
        if class.words == 2 {
            format!("{}[{first}:{}]", class.file, first + 1)
        } else {
            format!("{}{first}", class.file)
        }
    };
    // The low half of a value of a 64-bit class, where an opcode takes 32 bits.
    let low = |value: usize| format!("{}{}", class.file, 8 + 2 * value);
    let mut text = String::new();
    for letter in template.chars() {
        match letter {
            'D' => text += &name(to),
            'A' | 'B' | 'C' => text += &name(from[letter as usize - 'A' as usize]),
            'X' | 'Y' => text += &low(from[letter as usize - 'X' as usize]),
            _ => text.push(letter),
        }
    }
    text
}
