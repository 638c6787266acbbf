//! Rows of weights times many rows of activations, on the matrix instructions.

use super::{Call, suffix, word};
use crate::gguf::TensorType;
use hip::Arguments;

pub(super) const OBJECT: &str = "matrix";
const THREADS: u32 = 128;
/// Rows of weights, and rows of activations, of a work-group.
const TILE: usize = 64;

/// `out[n, row] = weights[row, :] · x[n, :]`. Addresses are the device's.
#[derive(Debug, Clone, Copy, Default)]
pub struct MultiplyMatrix {
    /// f32.
    pub out: u64,
    /// As the file stores them.
    pub weights: u64,
    /// f16, or bf16 where the weights are; rows without gaps.
    pub x: u64,
    /// Numbers of a row of weights.
    pub columns: usize,
    /// Rows of weights.
    pub rows: usize,
    /// Rows of x.
    pub count: usize,
    /// Floats from one result to the next.
    pub out_stride: usize,
}

impl MultiplyMatrix {
    /// The launch for weights of this type.
    pub fn call(&self, kind: TensorType) -> Call {
        let arguments = Arguments::new()
            .address(self.out)
            .address(self.weights)
            .address(self.x)
            .u32(word(self.columns))
            .u32(word(self.rows))
            .u32(word(self.count))
            .u32(word(self.out_stride));
        let grid = [self.rows.div_ceil(TILE), self.count.div_ceil(TILE), 1];
        Call::new(OBJECT, format!("multiply_matrix_{}", suffix(kind)), grid, THREADS, arguments)
    }
}

/// Whether the matrix instructions multiply weights of this type and width. Weights in f32 stay exact, and stand for little: routers.
pub fn has_matrix_kernel(kind: TensorType, columns: usize) -> bool {
    kind != TensorType::F32 && columns.is_multiple_of(32)
}
