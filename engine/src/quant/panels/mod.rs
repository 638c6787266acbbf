//! Many rows of activations at once: weights are unpacked once into panels, of which each instruction takes several rows.
//!
//! A panel is some rows of weights side by side: for every four columns the four bytes of each row, so that one load fills a vector with a row a lane. Activations are
//! kept in tiles of [`TILE`] rows, also four columns at a time: each four bytes are multiplied with all rows of the panel. So nothing is summed across lanes,
//! and unpacking is paid once for all rows of activations.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod pack;
mod tiles;

pub use tiles::Tiles;

use super::Code;
use crate::gguf::TensorType;
#[cfg(target_arch = "x86_64")]
use pack::Panel;

/// Rows of activations of a tile: as many sums as fit into registers.
const TILE: usize = 8;

/// How weights of a type are unpacked: bytes without a sign, in groups with a scale.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// Columns of a group.
    group: usize,
    /// What is too much in each byte.
    offset: i32,
    /// A group has a minimum that is taken off each of its numbers.
    has_minima: bool,
}

impl Shape {
    /// `None`: floats.
    fn of(kind: TensorType) -> Option<Self> {
        let (group, offset, has_minima) = match kind {
            TensorType::F32 | TensorType::F16 | TensorType::BF16 => return None,
            TensorType::Q8_0 | TensorType::IQ4_NL => (32, 128, false),
            TensorType::Q4_0 => (32, 8, false),
            TensorType::Q4_K | TensorType::Q5_K => (32, 0, true),
            TensorType::Q6_K => (16, 32, false),
        };
        Some(Self { group, offset, has_minima })
    }
}

/// Rows of weights of a panel of `kind` for `count` rows of `columns` activations; `None`: panels are not worth unpacking, or there is no code for them.
pub fn panel_rows(code: Code, kind: TensorType, columns: usize, count: usize) -> Option<usize> {
    let rows = match code {
        Code::Portable => return None,
        Code::Avx2 => 8,
        Code::Avx512 => 16,
    };
    // What single rows are slow at is worth it sooner; measured.
    let worth = match Shape::of(kind) {
        None => 32,
        Some(shape) if shape.has_minima || shape.group < 32 => 24,
        Some(_) => 12,
    };
    (count >= worth && columns.is_multiple_of(4)).then_some(rows)
}

/// Multiplies the rows of one panel, `bytes` of `kind`, with all rows of `x`: `out[activation row][panel row]`. Rows of the panel that `bytes` lacks give 0.
///
/// # Panics
/// When the lengths do not fit together, or `code` is for single rows.
#[allow(unsafe_code)]
pub fn panel_products(code: Code, kind: TensorType, bytes: &[u8], x: &Tiles, out: &mut [f32]) {
    match code {
        // SAFETY: these are made by `Code::there` alone, after a look at the processor.
        #[cfg(target_arch = "x86_64")]
        Code::Avx2 => unsafe { avx2::products(kind, bytes, x, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Code::Avx512 => unsafe { avx512::products(kind, bytes, x, out) },
        _ => panic!("no panels for {code:?}"),
    }
}

#[cfg(target_arch = "x86_64")]
/// The part of `out` that the rows of a tile have: less than a tile at the end.
fn of_tile(out: &mut [f32], tile: usize, rows: usize) -> impl Iterator<Item = &mut [f32]> {
    out.chunks_exact_mut(rows).skip(tile * TILE).take(TILE)
}
