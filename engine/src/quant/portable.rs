//! The dot product by definition: a row is made f32 and multiplied in f32. The reference of all others, and the way on other processors.

use super::dequantise::dequantise;
use crate::gguf::TensorType;

/// `weights`, a row, times each row of `floats`, to `out`. `scratch` takes the row.
pub(super) fn dots(
    kind: TensorType,
    weights: &[u8],
    floats: &[f32],
    columns: usize,
    scratch: &mut Vec<f32>,
    out: &mut [f32],
) {
    scratch.resize(columns, 0.0);
    dequantise(kind, weights, scratch);
    for (row, out) in floats.chunks_exact(columns).zip(out) {
        *out = dot(scratch, row);
    }
}

/// Sums in eight lanes, so that the compiler may use vectors.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    let (a_blocks, b_blocks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_blocks.zip(b_blocks) {
        for i in 0..8 {
            lanes[i] += a[i] * b[i];
        }
    }
    lanes.iter().sum::<f32>() + rest
}
