//! Rows of weights times one row of activations, and rows of weights as floats.

use super::{Call, suffix, word};
use crate::gguf::TensorType;
use hip::Arguments;

pub(super) const OBJECT: &str = "vector";
const THREADS: u32 = 256;
/// A wave each.
const ROWS_OF_A_GROUP: usize = 8;

/// `out[n, row] = weights of expert e [row, :] · x[n / share, :]`, where e is `experts[n]`; 0 where e is below 0. Addresses are the device's.
#[derive(Debug, Clone, Copy, Default)]
pub struct MultiplyVector {
    /// f32.
    pub out: u64,
    /// As the file stores them.
    pub weights: u64,
    /// f32, rows without gaps.
    pub x: u64,
    /// i32, one a result; 0: there is one matrix.
    pub experts: u64,
    /// From one expert's matrix to the next.
    pub expert_bytes: u64,
    /// Numbers of a row of weights.
    pub columns: usize,
    /// Rows of weights.
    pub rows: usize,
    /// Floats from one result to the next.
    pub out_stride: usize,
    /// Results that each row of x has.
    pub share: usize,
    /// Rows of x.
    pub count: usize,
}

impl MultiplyVector {
    /// The launch for weights of this type.
    pub fn call(&self, kind: TensorType) -> Call {
        let arguments = Arguments::new()
            .address(self.out)
            .address(self.weights)
            .address(self.x)
            .address(self.experts)
            .address(self.expert_bytes)
            .u32(word(self.columns))
            .u32(word(self.rows))
            .u32(word(self.out_stride))
            .u32(word(self.share));
        let grid = [self.rows.div_ceil(ROWS_OF_A_GROUP), self.share, self.count];
        Call::new(OBJECT, format!("multiply_vector_{}", suffix(kind)), grid, THREADS, arguments)
    }
}

/// `out[n, :] = table[tokens[n], :]`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Embed {
    /// f32.
    pub out: u64,
    /// As the file stores it.
    pub table: u64,
    /// u32, each a row of the table.
    pub tokens: u64,
    /// Numbers of a row.
    pub columns: usize,
    /// Tokens.
    pub count: usize,
}

impl Embed {
    /// The launch for a table of this type.
    pub fn call(&self, kind: TensorType) -> Call {
        let arguments = Arguments::new().address(self.out).address(self.table).address(self.tokens);
        let arguments = arguments.u32(word(self.columns)).u32(0);
        Call::new(OBJECT, format!("embed_{}", suffix(kind)), [self.count, 1, 1], THREADS, arguments)
    }
}
