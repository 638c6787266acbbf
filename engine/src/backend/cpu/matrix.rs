//! Weight matrices: rows of a mapped file, times rows of activations.

use crate::gguf::{Gguf, Tensor, TensorType};
use crate::quant::{Activations, Code, Tiles, panel_products, panel_rows, products};
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
    pub(crate) fn new(gguf: Arc<Gguf>, tensor: Tensor) -> Self {
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
        let size = self.rows() * self.row_bytes();
        let bytes = &self.gguf.bytes(&self.tensor)[expert * size..][..size];
        multiply(code, self.kind(), bytes, self.columns(), x)
    }
}

/// Each row of `x` times the matrix `bytes`, whose rows are `columns` numbers of `kind`.
pub(super) fn multiply(code: Code, kind: TensorType, bytes: &[u8], columns: usize, x: &[f32]) -> Vec<f32> {
    let row_bytes = kind.row_bytes(columns);
    let (rows, count) = (bytes.len() / row_bytes, x.len() / columns);
    if let Some(panel_rows) = panel_rows(code, kind, columns, count) {
        return by_panels(code, kind, bytes, &Tiles::new(kind, x, columns), count, panel_rows);
    }
    let x = Activations::new(code.form(kind), x, columns);
    let mut out = vec![0.0; rows * count];
    let task_rows = (TASK_BYTES / row_bytes).clamp(1, rows);
    let pieces = bytes.par_chunks(task_rows * row_bytes).zip(out.par_chunks_mut(task_rows * count));
    pieces.for_each(|(bytes, out)| products(code, kind, bytes, &x, out));
    if count == 1 { out } else { transposed(&out, rows, count) }
}

/// Many rows, `count`, of `x`.
fn by_panels(
    code: Code,
    kind: TensorType,
    bytes: &[u8],
    x: &Tiles,
    count: usize,
    panel_rows: usize,
) -> Vec<f32> {
    let row_bytes = kind.row_bytes(x.columns());
    let rows = bytes.len() / row_bytes;
    let mut panels = vec![0.0; rows.div_ceil(panel_rows) * panel_rows * count];
    let pieces = bytes.par_chunks(panel_rows * row_bytes).zip(panels.par_chunks_mut(panel_rows * count));
    pieces.for_each(|(bytes, out)| panel_products(code, kind, bytes, x, out));
    let mut out = vec![0.0; rows * count];
    out.par_chunks_mut(rows).enumerate().for_each(|(number, out)| {
        for (panel, out) in panels.chunks_exact(panel_rows * count).zip(out.chunks_mut(panel_rows)) {
            out.copy_from_slice(&panel[number * panel_rows..][..out.len()]);
        }
    });
    out
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
