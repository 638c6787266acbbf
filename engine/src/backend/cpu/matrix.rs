//! Weight matrices: rows of a mapped file, times rows of activations.

use crate::gguf::{Gguf, Tensor, TensorType};
use crate::quant::{Activations, Code, products};
use rayon::prelude::*;
use std::sync::Arc;

/// A matrix, or one an expert, in its file.
#[derive(Debug)]
pub struct Matrix {
    gguf: Arc<Gguf>,
    tensor: Tensor,
}

/// Bytes of weights that a task takes when there is one row of activations: enough to be worth a task, few enough to keep all threads busy.
const TASK_BYTES: usize = 1 << 15;

impl Matrix {
    pub(super) fn new(gguf: Arc<Gguf>, tensor: Tensor) -> Self {
        Self { gguf, tensor }
    }

    pub(super) fn kind(&self) -> TensorType {
        self.tensor.kind
    }

    /// Numbers of a row.
    pub(super) fn columns(&self) -> usize {
        self.tensor.sizes[0] as usize
    }

    /// Rows of one expert's matrix, or of the matrix.
    pub(super) fn rows(&self) -> usize {
        self.tensor.sizes.get(1).map_or(1, |rows| *rows as usize)
    }

    fn row_bytes(&self) -> usize {
        self.tensor.kind.row_bytes(self.columns())
    }

    /// The bytes of a row.
    pub(super) fn row(&self, number: usize) -> &[u8] {
        &self.gguf.bytes(&self.tensor)[number * self.row_bytes()..][..self.row_bytes()]
    }

    /// Each row of `x` times the matrix of `expert`.
    pub(super) fn multiply(&self, code: Code, expert: usize, x: &[f32]) -> Vec<f32> {
        let (rows, row_bytes) = (self.rows(), self.row_bytes());
        let bytes = &self.gguf.bytes(&self.tensor)[expert * rows * row_bytes..][..rows * row_bytes];
        let x = Activations::new(code.form(self.kind()), x, self.columns());
        let count = x.rows();
        let mut out = vec![0.0; rows * count];
        let task_rows = (TASK_BYTES / row_bytes).clamp(1, rows);
        let pieces = bytes.par_chunks(task_rows * row_bytes).zip(out.par_chunks_mut(task_rows * count));
        pieces.for_each(|(bytes, out)| products(code, self.kind(), bytes, &x, out));
        if count == 1 { out } else { transposed(&out, rows, count) }
    }
}

/// `[rows][count]` as `[count][rows]`.
fn transposed(numbers: &[f32], rows: usize, count: usize) -> Vec<f32> {
    const TILE: usize = 16;
    let mut out = vec![0.0; numbers.len()];
    out.par_chunks_mut(rows * TILE).enumerate().for_each(|(tile, out)| {
        for row in 0..rows {
            let from = &numbers[row * count + tile * TILE..(row + 1) * count];
            for (number, out) in from.iter().zip(out.chunks_exact_mut(rows)) {
                out[row] = *number;
            }
        }
    });
    out
}
