//! WMMA of random matrices against a product in f64 or i64.

use crate::assemble::{assemble, launch, prologue, wait};
use crate::sequences::{Random, SEQUENCES};
use gfx::Target;
use gfx_sim::Memory;
use half::{bf16, f16};

/// Bits and value of each element, `[row or column][k]`.
type Elements = [[(u32, f64); 16]; 16];

/// One kind of matrix instruction.
struct Kind {
    target: Target,
    name: &'static str,
    /// Bits of an element of A and B, and their number along k.
    bits: usize,
    k: usize,
    modifiers: &'static str,
    /// A random element's bits, and its value.
    element: fn(u64) -> (u32, f64),
}

fn as_f16(random: u64) -> (u32, f64) {
    let x = f16::from_f32((random as i16) as f32 / 8192.0);
    (x.to_bits().into(), x.to_f64())
}

fn as_bf16(random: u64) -> (u32, f64) {
    let x = bf16::from_f32((random as i16) as f32 / 8192.0);
    (x.to_bits().into(), x.to_f64())
}

fn as_i8(random: u64) -> (u32, f64) {
    (random as u32 & 0xff, f64::from(random as i8))
}

fn as_u8(random: u64) -> (u32, f64) {
    (random as u32 & 0xff, f64::from(random as u8))
}

/// OCP E4M3 by its definition: sign, four bits of exponent with bias 7, three of mantissa.
fn as_fp8(random: u64) -> (u32, f64) {
    let bits = random as u32 & 0xff;
    let bits = if bits & 0x7f == 0x7f { 0 } else { bits };
    let (exponent, mantissa) = ((bits >> 3 & 15) as i32, f64::from(bits & 7));
    let size = if exponent == 0 {
        mantissa / 8.0 * 2f64.powi(-6)
    } else {
        (1.0 + mantissa / 8.0) * 2f64.powi(exponent - 7)
    };
    (bits, if bits & 0x80 != 0 { -size } else { size })
}

const KINDS: [Kind; 8] = [
    Kind {
        target: Target::Gfx1100,
        name: "v_wmma_f32_16x16x16_f16",
        bits: 16,
        k: 16,
        modifiers: "",
        element: as_f16,
    },
    Kind {
        target: Target::Gfx1100,
        name: "v_wmma_f32_16x16x16_bf16",
        bits: 16,
        k: 16,
        modifiers: "",
        element: as_bf16,
    },
    Kind {
        target: Target::Gfx1100,
        name: "v_wmma_i32_16x16x16_iu8",
        bits: 8,
        k: 16,
        modifiers: "neg_lo:[1,1,0]",
        element: as_i8,
    },
    Kind {
        target: Target::Gfx1201,
        name: "v_wmma_f32_16x16x16_f16",
        bits: 16,
        k: 16,
        modifiers: "",
        element: as_f16,
    },
    Kind {
        target: Target::Gfx1201,
        name: "v_wmma_f32_16x16x16_bf16",
        bits: 16,
        k: 16,
        modifiers: "",
        element: as_bf16,
    },
    Kind {
        target: Target::Gfx1201,
        name: "v_wmma_i32_16x16x16_iu8",
        bits: 8,
        k: 16,
        modifiers: "neg_lo:[1,1,0]",
        element: as_i8,
    },
    Kind {
        target: Target::Gfx1201,
        name: "v_wmma_i32_16x16x16_iu8",
        bits: 8,
        k: 16,
        modifiers: "",
        element: as_u8,
    },
    Kind {
        target: Target::Gfx1201,
        name: "v_wmma_f32_16x16x16_fp8_fp8",
        bits: 8,
        k: 16,
        modifiers: "",
        element: as_fp8,
    },
];

/// Bits of 16 rows (of A) or columns (of B) as the registers hold them: `[register][lane]`.
fn registers(kind: &Kind, elements: &[[u32; 16]; 16]) -> Vec<[u32; 32]> {
    let is_gfx12 = kind.target == Target::Gfx1201;
    let of_lane = if is_gfx12 { kind.k / 2 } else { kind.k };
    let each = 32 / kind.bits;
    (0..of_lane / each)
        .map(|register| {
            std::array::from_fn(|lane| {
                let first = register * each + if is_gfx12 { lane / 16 * of_lane } else { 0 };
                (0..each).fold(0, |word, i| word | elements[lane % 16][first + i] << (kind.bits * i))
            })
        })
        .collect()
}

#[test]
fn products_of_random_matrices() {
    for kind in &KINDS {
        let Kind { target, name, modifiers, element, k, .. } = *kind;
        let mut random = Random(17);
        let is_integer = name.contains("i32");
        let mut input: Vec<u32> = Vec::new();
        let mut expected = Vec::new();
        let mut count = 0;
        for _ in 0..SEQUENCES {
            let mut matrix = || std::array::from_fn(|_| std::array::from_fn(|_| element(random.bits())));
            let (a, b): (Elements, Elements) = (matrix(), matrix());
            let bits = |m: &Elements| m.map(|row| row.map(|(bits, _)| bits));
            let words = [registers(kind, &bits(&a)), registers(kind, &bits(&b))].concat();
            count = words.len() / 2;
            input.extend(words.concat());
            expected.push(std::array::from_fn::<_, 16, _>(|row| {
                std::array::from_fn::<_, 16, _>(|column| {
                    (0..k).map(|k| a[row][k].1 * b[column][k].1).sum::<f64>()
                })
            }));
        }
        // One kernel for one product: the workgroup's waves take no part in where the data lies, so each is its own launch.
        let last = 8 + count - 1;
        let mut body = prologue(target);
        for register in 0..2 * count {
            body += &format!("global_load_b32 v{}, v0, s[4:5] offset:{}\n", 8 + register, 128 * register);
        }
        for register in 0..8 {
            body += &format!("v_mov_b32 v{}, {}\n", 40 + register, if is_integer { "7" } else { "0.5" });
        }
        body += wait(target);
        body += &format!(
            "{name} v[40:47], v[8:{last}], v[{}:{}], v[40:47] {modifiers}\n",
            last + 1,
            last + count
        );
        for register in 0..8 {
            body += &format!("global_store_b32 v0, v{}, s[6:7] offset:{}\n", 40 + register, 128 * register);
        }
        let program = assemble(target, &body);
        let size = 2 * count * 32;
        for (sequence, expected) in expected.iter().enumerate() {
            let mut memory = Memory::new();
            let from = memory.read_only("input", &input[sequence * size..][..size]);
            let to = memory.output::<u32>("output", 256);
            launch(&program, &mut memory, 32, from, to).expect("runs");
            let found = memory.numbers::<u32>(to);
            for (place, bits) in found.iter().enumerate() {
                let (register, lane) = (place / 32, place % 32);
                let row = if target == Target::Gfx1201 {
                    8 * (lane / 16) + register
                } else {
                    2 * register + lane / 16
                };
                let expected = expected[row][lane % 16];
                let (found, expected) = match is_integer {
                    true => (f64::from(*bits as i32), expected + 7.0),
                    false => (f64::from(f32::from_bits(*bits)), expected + 0.5),
                };
                // 16 sums in f32 of numbers up to 448 squared.
                let bound = if is_integer {
                    0.0
                } else {
                    2e-6 * expected.abs() + if name.contains("fp8") { 0.2 } else { 1e-4 }
                };
                assert!(
                    (found - expected).abs() <= bound,
                    "{target} {name} row {row} lane {lane}: {found}, not {expected}"
                );
            }
        }
    }
}
