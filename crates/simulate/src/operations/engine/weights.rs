//! Stored weights with numbers of a model's size, and exact products with them.

use crate::sample::Sample;
use engine::gguf::TensorType;
use engine::quant::dequantise;
use half::{bf16, f16};

/// `rows` rows of `columns` numbers.
pub(super) struct Weights {
    pub(super) bytes: Vec<u8>,
    /// What they stand for.
    pub(super) numbers: Vec<f32>,
    columns: usize,
}

impl Weights {
    pub(super) fn new(kind: TensorType, rows: usize, columns: usize, seed: u64) -> Self {
        let mut sample = Sample::new(seed);
        let (in_block, size) = kind.block();
        let mut bytes = Vec::with_capacity(rows * kind.row_bytes(columns));
        for _ in 0..rows * columns / in_block {
            let mut block: Vec<u8> = (0..size).map(|_| sample.bits() as u8).collect();
            let mut number = || sample.numbers::<f32>(1, 1.0, 0.0)[0];
            match kind {
                TensorType::F32 => block.copy_from_slice(&number().to_le_bytes()),
                TensorType::F16 => block.copy_from_slice(&f16::from_f32(number()).to_le_bytes()),
                TensorType::BF16 => block.copy_from_slice(&bf16::from_f32(number()).to_le_bytes()),
                // Any bytes are numbers; the scales have to be of a size.
                _ => scales(kind).iter().for_each(|at| {
                    block[*at..at + 2].copy_from_slice(&f16::from_f32(number() * 0.01).to_le_bytes());
                }),
            }
            bytes.extend(block);
        }
        let mut numbers = vec![0.0; rows * columns];
        dequantise(kind, &bytes, &mut numbers);
        Self { bytes, numbers, columns }
    }

    /// The product of each row with `x`, relative to the lengths of both, against what was found.
    pub(super) fn error(&self, x: &[f32], round: impl Fn(f32) -> f32, found: &[f32]) -> f64 {
        let error = |(row, found): (&[f32], &f32)| {
            let products = || row.iter().zip(x).map(|(w, x)| (f64::from(round(*w)), f64::from(round(*x))));
            let exact: f64 = products().map(|(w, x)| w * x).sum();
            let [length_w, length_x] = products().fold([0.0, 0.0], |[a, b], (w, x)| [a + w * w, b + x * x]);
            let error = (f64::from(*found) - exact).abs() / (length_w * length_x).sqrt().max(1e-6);
            if error.is_nan() { f64::INFINITY } else { error }
        };
        self.numbers.chunks_exact(self.columns).zip(found).map(error).fold(0.0, f64::max)
    }
}

fn scales(kind: TensorType) -> &'static [usize] {
    match kind {
        TensorType::Q4_K | TensorType::Q5_K => &[0, 2],
        TensorType::Q6_K => &[208],
        _ => &[0],
    }
}

/// Widths of rows: below, at and above what a wave takes at once, in whole blocks.
pub(super) fn widths(kind: TensorType) -> &'static [usize] {
    match kind.block().0 {
        1 => &[1, 7, 40, 300],
        32 => &[32, 96, 288],
        _ => &[256, 512],
    }
}
