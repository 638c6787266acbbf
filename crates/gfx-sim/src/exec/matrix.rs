//! WMMA: D = A B + C with A of 16 x k, B of k x 16.
//!
//! Where the elements lie (ISA guides, "Wave Matrix Multiply Accumulate"). gfx11: lane l holds row l mod 16 of A and column l mod 16 of B, whole,
//! so both halves of the wave hold the same; register r of C and D holds row 2r in the lower half and 2r + 1 in the upper. gfx12: each half
//! of the wave holds half of k; register r holds row r in the lower half and 8 + r in the upper, and 16-bit results are packed in pairs.
//!
//! Sums are made in f32, in the order of k. The hardware's order and its inner precision are not published.

use crate::fault::{FaultKind, Step};
use crate::instruction::{Element, Matrix, Source};
use crate::number::{BF8, BF16, F16, FP8, bf16_bits, bf16_to_f32, f16_bits, from_8_bits, nearest};
use crate::wave::{Origin, Wave};

/// `[row or column][k]`.
type Operand<T> = [[T; 32]; 16];
/// `[row][column]`.
type Result<T> = [[T; 16]; 16];

pub(super) fn execute(wave: &mut Wave, matrix: &Matrix) -> Step {
    if wave.exec != u32::MAX {
        return Err(FaultKind::MatrixExec { exec: wave.exec }.into());
    }
    let a = Loaded::new(wave, matrix.a.0, matrix.a.1, matrix.k)?;
    let b = Loaded::new(wave, matrix.b.0, matrix.b.1, matrix.k)?;
    let c = accumulator(wave, matrix)?;
    let undefined = Undefined { rows: a.undefined, columns: b.undefined, c: c.undefined };
    let origin = a.origin.or(b.origin).or(c.origin);
    let k = usize::from(matrix.k);
    let is_integer = matches!(matrix.a.1, Element::I8 | Element::U8 | Element::I4 | Element::U4);
    let mut d = [[0u32; 16]; 16];
    if is_integer {
        let (a, b) = (a.integers(matrix.a.1), b.integers(matrix.b.1));
        for (row, out) in d.iter_mut().enumerate() {
            for (column, out) in out.iter_mut().enumerate() {
                let dot: i64 = (0..k).map(|k| i64::from(a[row][k]) * i64::from(b[column][k])).sum();
                let sum = i64::from(c.bits[row][column] as i32) + dot;
                *out = if matrix.clamp {
                    sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32
                } else {
                    sum as u32
                };
            }
        }
    } else {
        let (a, b) = (a.floats(matrix.a.1, matrix.a_negate), b.floats(matrix.b.1, matrix.b_negate));
        let sums = product(&a, &b, &c.floats(matrix), k);
        for (out, sums) in d.iter_mut().zip(&sums) {
            for (out, sum) in out.iter_mut().zip(sums) {
                *out = encode(*sum, matrix.small);
            }
        }
    }
    write(wave, matrix, &d, &undefined, origin)
}

fn product(a: &Operand<f32>, b: &Operand<f32>, c: &Result<f32>, k: usize) -> Result<f32> {
    // Columns of B side by side, so that the inner loop runs over neighbours.
    let mut rows_of_b = [[0f32; 16]; 32];
    for (column, values) in b.iter().enumerate() {
        for (k, value) in values.iter().enumerate() {
            rows_of_b[k][column] = *value;
        }
    }
    let mut d = *c;
    for (row, out) in d.iter_mut().enumerate() {
        for (a, b) in a[row][..k].iter().zip(&rows_of_b) {
            for (out, b) in out.iter_mut().zip(b) {
                *out += a * b;
            }
        }
    }
    d
}

fn encode(value: f32, small: Option<Element>) -> u32 {
    match small {
        None => value.to_bits(),
        Some(Element::Bf16) => bf16_bits(nearest(f64::from(value), BF16)) as u32,
        Some(_) => f16_bits(nearest(f64::from(value), F16)) as u32,
    }
}

/// A or B: the bits of the elements, by row (of A) or column (of B).
struct Loaded {
    bits: Operand<u16>,
    /// Rows or columns with an undefined element, a bit each.
    undefined: u32,
    origin: Option<Origin>,
}

fn width(element: Element) -> usize {
    match element {
        Element::F16 | Element::Bf16 => 16,
        Element::Fp8 | Element::Bf8 | Element::I8 | Element::U8 => 8,
        Element::I4 | Element::U4 => 4,
    }
}

impl Loaded {
    fn new(wave: &Wave, first: u8, element: Element, k: u8) -> Step<Self> {
        let (bits, k) = (width(element), usize::from(k));
        let of_lane = if wave.is_gfx12 { k / 2 } else { k };
        let each = 32 / bits;
        let registers = (of_lane / each).max(1);
        let mut loaded = Self { bits: [[0; 32]; 16], undefined: 0, origin: None };
        for register in 0..registers {
            let number = first + register as u8;
            let values = wave.vector(number)?;
            let undefined = wave.vector_undefined(number);
            if undefined != 0 {
                loaded.undefined |= (undefined | undefined >> 16) & 0xffff;
                loaded.origin = loaded.origin.or(wave.vector_origin(number));
            }
            if !wave.is_gfx12 && undefined == 0 && values[..16] != values[16..] {
                return Err(FaultKind::MatrixHalves { register: number }.into());
            }
            for (lane, value) in values.iter().enumerate() {
                let start = register * each + if wave.is_gfx12 { lane / 16 * of_lane } else { 0 };
                for i in 0..each.min(of_lane) {
                    let part = value >> (bits * i) & ((1u64 << bits) - 1) as u32;
                    loaded.bits[lane % 16][start + i] = part as u16;
                }
            }
        }
        Ok(loaded)
    }

    fn floats(&self, element: Element, (negate_low, negate_high): (bool, bool)) -> Operand<f32> {
        let decode = |bits: u16| match element {
            Element::F16 => half::f16::from_bits(bits).to_f32(),
            Element::Bf16 => bf16_to_f32(bits.into()),
            Element::Fp8 => from_8_bits(bits.into(), FP8),
            _ => from_8_bits(bits.into(), BF8),
        };
        let mut out = self.bits.map(|row| row.map(decode));
        if negate_low || negate_high {
            for row in &mut out {
                for (k, value) in row.iter_mut().enumerate() {
                    *value =
                        if k % 2 == 0 && negate_low || k % 2 == 1 && negate_high { -*value } else { *value };
                }
            }
        }
        out
    }

    fn integers(&self, element: Element) -> Operand<i32> {
        let decode = |bits: u16| match element {
            Element::I8 => i32::from(bits as i8),
            Element::I4 => i32::from((bits as i8) << 4 >> 4),
            _ => i32::from(bits),
        };
        self.bits.map(|row| row.map(decode))
    }
}

/// C as bits, by row and column.
struct Accumulator {
    bits: Result<u32>,
    /// Of each row the columns that are not defined, a bit each.
    undefined: [u32; 16],
    origin: Option<Origin>,
}

impl Accumulator {
    fn floats(&self, matrix: &Matrix) -> Result<f32> {
        let (absolute, negate) = matrix.c_signs;
        let decode = |bits: u32| {
            let x = match matrix.small {
                None => f32::from_bits(bits),
                Some(Element::Bf16) => bf16_to_f32(bits),
                Some(_) => half::f16::from_bits(bits as u16).to_f32(),
            };
            let x = if absolute { x.abs() } else { x };
            if negate { -x } else { x }
        };
        self.bits.map(|row| row.map(decode))
    }
}

/// The row that a register's element is of: `part` is the half of a packed pair.
fn row_of(is_gfx12: bool, is_packed: bool, register: usize, upper: usize, part: usize) -> usize {
    match (is_gfx12, is_packed) {
        (false, _) => 2 * register + upper,
        (true, false) => 8 * upper + register,
        (true, true) => 8 * upper + 2 * register + part,
    }
}

fn accumulator(wave: &Wave, matrix: &Matrix) -> Step<Accumulator> {
    let mut c = Accumulator { bits: [[0; 16]; 16], undefined: [0; 16], origin: None };
    let Source::Vector(first) = matrix.c else {
        let (value, ..) = wave.read_scalar(matrix.c)?;
        c.bits = [[value as u32; 16]; 16];
        return Ok(c);
    };
    let is_small = matrix.small.is_some();
    let is_packed = is_small && wave.is_gfx12;
    for register in 0..if is_packed { 4 } else { 8 } {
        let number = first + register as u8;
        let values = wave.vector(number)?;
        let undefined = wave.vector_undefined(number);
        if undefined != 0 {
            c.origin = c.origin.or(wave.vector_origin(number));
        }
        for (lane, value) in values.iter().enumerate() {
            for part in 0..if is_packed { 2 } else { 1 } {
                let row = row_of(wave.is_gfx12, is_packed, register, lane / 16, part);
                let shift = if part == 1 || matrix.high { 16 } else { 0 };
                c.bits[row][lane % 16] = if is_small { value >> shift & 0xffff } else { *value };
                c.undefined[row] |= (undefined >> lane & 1) << (lane % 16);
            }
        }
    }
    Ok(c)
}

/// Which elements of the result are not defined.
struct Undefined {
    rows: u32,
    columns: u32,
    c: [u32; 16],
}

fn write(
    wave: &mut Wave,
    matrix: &Matrix,
    d: &Result<u32>,
    undefined: &Undefined,
    origin: Option<Origin>,
) -> Step {
    let is_packed = matrix.small.is_some() && wave.is_gfx12;
    for register in 0..if is_packed { 4 } else { 8 } {
        let mut values = [0u32; 32];
        let mut lanes = 0;
        for (lane, value) in values.iter_mut().enumerate() {
            for part in 0..if is_packed { 2 } else { 1 } {
                let row = row_of(wave.is_gfx12, is_packed, register, lane / 16, part);
                let column = lane % 16;
                *value |= d[row][column] << (16 * part);
                let is_undefined =
                    undefined.rows >> row | undefined.columns >> column | undefined.c[row] >> column;
                lanes |= (is_undefined & 1) << lane;
            }
        }
        let number = matrix.d + register as u8;
        if matrix.small.is_some() && !wave.is_gfx12 {
            wave.vector(number)?;
            wave.land_half(number, matrix.high, &values, u32::MAX, lanes, origin);
        } else {
            wave.set_vector(number, &values, u32::MAX, lanes, origin)?;
        }
    }
    Ok(())
}
