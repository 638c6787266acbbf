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
    /// Rounded numbers of the integer forms.
    pub integers: Vec<i8>,
    /// A scale a block.
    pub scales: Vec<f32>,
    /// Sums of each 16 integers of [`Form::Blocks256`].
    pub sums: Vec<i16>,
}

impl<'a> Activations<'a> {
    /// Brings `floats`, rows of `columns`, to `form`.
    pub fn new(form: Form, floats: &'a [f32], columns: usize) -> Self {
        let mut rows = Self { columns, floats, integers: Vec::new(), scales: Vec::new(), sums: Vec::new() };
        match form {
            Form::Float => {}
            Form::Blocks32 => {
                rows.integers.reserve_exact(floats.len());
                floats.chunks_exact(32).for_each(|block| rows.push_32(block));
            }
            Form::Blocks256 => {
                rows.integers.reserve_exact(floats.len());
                floats.chunks_exact(256).for_each(|block| rows.push_256(block));
            }
        }
        rows
    }

    fn push_32(&mut self, block: &[f32]) {
        let largest = block.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = largest / 127.0;
        let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
        self.integers.extend(block.iter().map(|x| (x * inverse).round_ties_even() as i8));
        self.scales.push(f16::from_f32(scale).to_f32());
    }

    /// The number of the largest size becomes -127, whatever its sign is: as ggml does it.
    fn push_256(&mut self, block: &[f32]) {
        let largest =
            block.iter().fold(0.0_f32, |largest, x| if x.abs() > largest.abs() { *x } else { largest });
        let inverse = if largest == 0.0 { 0.0 } else { -127.0 / largest };
        let start = self.integers.len();
        self.integers.extend(block.iter().map(|x| (x * inverse).round_ties_even().min(127.0) as i8));
        self.scales.push(if largest == 0.0 { 0.0 } else { 1.0 / inverse });
        let sums = self.integers[start..].chunks_exact(16);
        self.sums.extend(sums.map(|sixteen| sixteen.iter().map(|x| i16::from(*x)).sum::<i16>()));
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.floats.len() / self.columns
    }
}
