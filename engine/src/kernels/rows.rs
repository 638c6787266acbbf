//! Sums, conversions, chosen rows, and the routing of experts.

use super::{Call, word};
use hip::Arguments;

pub(super) const OBJECT: &str = "rows";
const THREADS: u32 = 256;
/// Numbers of a work-group where each thread takes several.
const SHARE: usize = 1024;

/// `out[i] = a[i] + b[i % period]`, f32; out may be a.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs)] // named by the formula
pub struct Add {
    pub out: u64,
    pub a: u64,
    pub b: u64,
    pub count: usize,
    pub period: usize,
}

impl Add {
    /// The launch.
    pub fn call(&self) -> Call {
        let arguments = Arguments::new().address(self.out).address(self.a).address(self.b);
        let arguments = arguments.u32(word(self.count)).u32(word(self.period));
        Call::new(OBJECT, "add_f32", [self.count.div_ceil(SHARE), 1, 1], THREADS, arguments)
    }
}

/// From which type to which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // named by their types
pub enum Conversion {
    F32ToF16,
    F32ToBf16,
    F16ToF32,
}

impl Conversion {
    /// Every conversion.
    pub const ALL: [Self; 3] = [Self::F32ToF16, Self::F32ToBf16, Self::F16ToF32];
}

/// `out[i]` is the nearest number to `input[i]` of the other type; what is too large for f16 becomes its largest.
pub fn convert(conversion: Conversion, out: u64, input: u64, count: usize) -> Call {
    let kernel = match conversion {
        Conversion::F32ToF16 => "convert_f32_f16",
        Conversion::F32ToBf16 => "convert_f32_bf16",
        Conversion::F16ToF32 => "convert_f16_f32",
    };
    let arguments = Arguments::new().address(out).address(input).u32(word(count)).u32(0);
    Call::new(OBJECT, kernel, [count.div_ceil(SHARE), 1, 1], THREADS, arguments)
}

/// `out[n, :] = input[rows[n], :]`, f32.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs)] // named by the formula
pub struct Gather {
    pub out: u64,
    pub input: u64,
    /// u32.
    pub rows: u64,
    pub columns: usize,
    pub count: usize,
}

impl Gather {
    /// The launch.
    pub fn call(&self) -> Call {
        let arguments = Arguments::new().address(self.out).address(self.input).address(self.rows);
        let arguments = arguments.u32(word(self.columns)).u32(0);
        Call::new(OBJECT, "gather_f32", [self.count, 1, 1], THREADS, arguments)
    }
}

/// The best experts of each token and their weights: the softmax of all scores, made to sum to 1 over those that are used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Route {
    /// i32 `[token, used]`.
    pub experts: u64,
    /// f32 `[token, used]`.
    pub weights: u64,
    /// f32 `[token, count]`.
    pub scores: u64,
    /// Experts, [`Route::MOST`] at most.
    pub count: usize,
    /// Experts that a token uses.
    pub used: usize,
    /// Tokens.
    pub tokens: usize,
}

impl Route {
    /// Most experts that there may be.
    pub const MOST: usize = 1024;

    /// The launch.
    pub fn call(&self) -> Call {
        let arguments = Arguments::new().address(self.experts).address(self.weights).address(self.scores);
        let arguments = arguments.u32(word(self.count)).u32(word(self.used));
        Call::new(OBJECT, "route_f32", [self.tokens, 1, 1], 32, arguments)
    }
}

/// `out[token, :]` is the sum over k of `weights[token, k] · y[token, k, :]`, f32.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs)] // named by the formula
pub struct Mix {
    pub out: u64,
    pub y: u64,
    pub weights: u64,
    pub columns: usize,
    pub used: usize,
    pub tokens: usize,
}

impl Mix {
    /// The launch.
    pub fn call(&self) -> Call {
        let arguments = Arguments::new().address(self.out).address(self.y).address(self.weights);
        let arguments = arguments.u32(word(self.columns)).u32(word(self.used));
        let grid = [self.columns.div_ceil(THREADS as usize), self.tokens, 1];
        Call::new(OBJECT, "mix_f32", grid, THREADS, arguments)
    }
}

/// Writes the word at `value` to `bell`, which the host waits for.
pub fn ring(bell: u64, value: u64) -> Call {
    Call::new(OBJECT, "ring_u32", [1, 1, 1], 32, Arguments::new().address(bell).address(value))
}

/// Waits until the host has written `value` to `go`, looking `tries` times at most, and writes it to `done`; the complement if it did not come.
pub fn answer(go: u64, done: u64, value: u32, tries: u32) -> Call {
    let arguments = Arguments::new().address(go).address(done).u32(value).u32(tries);
    Call::new(OBJECT, "answer_u32", [1, 1, 1], 32, arguments)
}
