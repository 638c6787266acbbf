//! Rows of activations in the form that a weight's dot product takes.
//!
//! The integer forms are those that llama.cpp computes with (its Q8_0 and Q8_K), so both engines round alike.

use crate::gguf::TensorType;
use half::f16;

/// The form of activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As they are.
    Float,
    /// i8 with a scale a 32 numbers.
    Blocks32,
    /// i8 with a scale a 256 numbers and the sum of each 16.
    Blocks256,
}

impl Form {
    /// The form that the fast dot product of `kind` takes.
    pub fn of(kind: TensorType) -> Self {
        match kind {
            TensorType::F32 | TensorType::F16 | TensorType::BF16 => Self::Float,
            TensorType::Q8_0 | TensorType::Q4_0 | TensorType::IQ4_NL => Self::Blocks32,
            TensorType::Q4_K | TensorType::Q5_K | TensorType::Q6_K => Self::Blocks256,
        }
    }
}

/// Rows of one form.
#[derive(Debug)]
pub struct Activations<'a> {
    /// Numbers of a row.
    pub columns: usize,
    /// The rows as they came, one after the other.
    pub floats: &'a [f32],
    /// Rounded numbers of [`Form::Blocks32`].
    pub integers: Vec<i8>,
    /// A scale a block of [`Form::Blocks32`].
    pub scales: Vec<f32>,
    /// The blocks of [`Form::Blocks256`].
    pub blocks: Vec<Block256>,
}

/// 256 numbers, in one piece of memory with all that a dot product wants of them.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Block256 {
    /// Rounded numbers, as four pairs of groups of 32.
    pub integers: [[[i8; 32]; 2]; 4],
    /// Sums of each 16.
    pub sums: [i16; 16],
    /// Sums of each 32.
    pub group_sums: [i16; 8],
    /// What they are multiplied by.
    pub scale: f32,
}

impl<'a> Activations<'a> {
    /// Brings `floats`, rows of `columns`, to `form`.
    pub fn new(form: Form, floats: &'a [f32], columns: usize) -> Self {
        let mut rows = Self { columns, floats, integers: Vec::new(), scales: Vec::new(), blocks: Vec::new() };
        match form {
            Form::Float => {}
            Form::Blocks32 => {
                rows.integers.reserve_exact(floats.len());
                floats.chunks_exact(32).for_each(|block| rows.push_32(block));
            }
            Form::Blocks256 => {
                rows.blocks = floats.as_chunks::<256>().0.iter().map(Block256::new).collect();
            }
        }
        rows
    }

    fn push_32(&mut self, block: &[f32]) {
        let scale = largest(block).abs() / 127.0;
        let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
        self.integers.extend(block.iter().map(|x| rounded(x * inverse)));
        self.scales.push(f16::from_f32(scale).to_f32());
    }

    /// `count` rounded numbers of a row from `first` on, which lie in one block, and what they are multiplied by.
    ///
    /// # Panics
    /// Of the float form, and when they do not lie in one block.
    pub fn group(&self, row: usize, first: usize, count: usize) -> (&[i8], f32) {
        let at = row * self.columns + first;
        if self.blocks.is_empty() {
            (&self.integers[at..at + count], self.scales[at / 32])
        } else {
            let block = &self.blocks[at / 256];
            (&block.integers.as_flattened().as_flattened()[at % 256..][..count], block.scale)
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.floats.len() / self.columns
    }
}

impl Block256 {
    /// The number of the largest size becomes -127, whatever its sign is: as ggml does it.
    fn new(floats: &[f32; 256]) -> Self {
        let largest = largest(floats);
        let inverse = if largest == 0.0 { 0.0 } else { -127.0 / largest };
        let scale = if largest == 0.0 { 0.0 } else { 1.0 / inverse };
        let mut block = Self { integers: [[[0; 32]; 2]; 4], sums: [0; 16], group_sums: [0; 8], scale };
        let integers = block.integers.as_flattened_mut().as_flattened_mut();
        for (integer, x) in integers.iter_mut().zip(floats) {
            *integer = rounded(x * inverse);
        }
        for (sum, sixteen) in block.sums.iter_mut().zip(integers.as_chunks::<16>().0) {
            *sum = sixteen.iter().map(|x| i16::from(*x)).sum();
        }
        for (group, two) in block.group_sums.iter_mut().zip(block.sums.as_chunks::<2>().0) {
            *group = two[0] + two[1];
        }
        block
    }
}

/// The number of the largest size, with its sign.
fn largest(block: &[f32]) -> f32 {
    let mut lanes = [(0.0_f32, 0.0_f32); 8];
    for eight in block.chunks_exact(8) {
        for (lane, x) in lanes.iter_mut().zip(eight) {
            *lane = (if *x > lane.0 { *x } else { lane.0 }, if *x < lane.1 { *x } else { lane.1 });
        }
    }
    let (most, least) = lanes.into_iter().fold((0.0_f32, 0.0_f32), |a, b| (a.0.max(b.0), a.1.min(b.1)));
    if most >= -least { most } else { least }
}

/// The nearest integer from -127 to 127, of two the even one. Adding this number leaves the integer in the low bits of the sum, with plain
/// instructions that every processor has for vectors.
fn rounded(x: f32) -> i8 {
    const MAGIC: f32 = 12_582_912.0; // 1.5 · 2^23
    ((x + MAGIC).to_bits().wrapping_sub(MAGIC.to_bits())) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_even_and_the_largest_is_found() {
        let rounded = [-127.0, -2.5, -1.4, 0.0, 0.5, 1.5, 1.6, 127.0].map(rounded);
        assert_eq!(rounded, [-127, -2, -1, 0, 0, 2, 2, 127]);
        let mut block = [0.5; 32];
        block[17] = -3.0;
        assert_eq!((largest(&block), largest(&[0.0; 32])), (-3.0, 0.0));
    }
}
