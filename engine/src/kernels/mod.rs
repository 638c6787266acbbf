//! The engine's own kernels: what each launch is, as a plain value. The sources are `native/*.hip`, the argument blocks `native/*_args.h`.
//!
//! The HIP backend queues these values, and `crates/simulate` runs them on an interpreter: both launch what this module says.

mod matrix;
mod rows;
mod vector;

pub use matrix::{MultiplyMatrix, has_matrix_kernel};
pub use rows::{Add, Conversion, Gather, Mix, Route, answer, convert, ring};
pub use vector::{Embed, MultiplyVector};

use crate::gguf::TensorType;
use hip::{Arguments, Launch};

/// The code objects, by name.
pub const OBJECTS: [&str; 3] = [matrix::OBJECT, rows::OBJECT, vector::OBJECT];

/// One launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The code object, without `.co`.
    pub object: &'static str,
    /// The kernel in it.
    pub kernel: String,
    /// Work-groups and threads.
    pub launch: Launch,
    /// The argument block.
    pub arguments: Arguments,
}

impl Call {
    fn new(
        object: &'static str,
        kernel: impl Into<String>,
        grid: [usize; 3],
        threads: u32,
        arguments: Arguments,
    ) -> Self {
        let grid = grid.map(word);
        Self {
            object,
            kernel: kernel.into(),
            launch: Launch { grid, block: [threads, 1, 1], lds: 0 },
            arguments,
        }
    }
}

/// Every kernel with its code object and the size of its argument block in bytes.
pub fn table() -> Vec<(&'static str, String, usize)> {
    let calls = TensorType::ALL.into_iter().flat_map(|kind| {
        let multiply = has_matrix_kernel(kind, 32).then(|| MultiplyMatrix::default().call(kind));
        [Some(MultiplyVector::default().call(kind)), Some(Embed::default().call(kind)), multiply]
    });
    let rows = [
        Some(Add::default().call()),
        Some(Gather::default().call()),
        Some(Route::default().call()),
        Some(Mix::default().call()),
        Some(ring(0, 0)),
        Some(answer(0, 0, 0, 0)),
    ];
    let conversions = Conversion::ALL.map(|conversion| Some(convert(conversion, 0, 0, 0)));
    let all = calls.chain(rows).chain(conversions).flatten();
    all.map(|call| (call.object, call.kernel, call.arguments.as_bytes().len())).collect()
}

/// As kernel names spell a type.
fn suffix(kind: TensorType) -> String {
    kind.to_string().to_lowercase()
}

/// A size as kernels take it. Sizes of models are below 2^24 (`model::Config`), and what a step holds follows from them.
fn word(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_one_name_and_a_whole_block() {
        let table = table();
        assert_eq!(table.len(), 9 + 9 + 8 + 6 + 3);
        let mut names: Vec<&String> = table.iter().map(|(_, name, _)| name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), table.len());
        assert!(table.iter().all(|(object, _, bytes)| OBJECTS.contains(object) && bytes % 8 == 0));
    }
}
