use super::{E4m3, Element, ShapeError, threads};
use rayon::prelude::*;

/// What numbers are quantised to: 8 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantised {
    /// -127 to 127.
    Int8,
    /// OCP e4m3, -448 to 448.
    E4m3,
}

impl Quantised {
    /// The largest number.
    pub const fn max(self) -> f32 {
        match self {
            Self::Int8 => 127.0,
            Self::E4m3 => E4m3::MAX,
        }
    }

    /// To nearest, ties to even.
    fn encode(self, value: f32) -> u8 {
        match self {
            Self::Int8 => value.round_ties_even().clamp(-127.0, 127.0) as i8 as u8,
            Self::E4m3 => E4m3::from_f32(value).to_bits(),
        }
    }
}

/// Each row of `width` elements over its own scale: the largest magnitude of the row becomes the largest number of the format. Gives the
/// numbers, `[rows, width]`, and the scales, `[rows]`, which they are to be multiplied with. A row of zeros has the scale 1.
///
/// # Errors
/// [`ShapeError`] when `input` is not whole rows.
pub fn quantise_per_token<T: Element>(
    format: Quantised,
    input: &[T],
    width: usize,
) -> Result<(Vec<u8>, Vec<f32>), ShapeError> {
    let rows = input.len().checked_div(width).unwrap_or(0);
    ShapeError::length("input", rows * width, input.len())?;
    let mut out = vec![0; input.len()];
    let mut scales = vec![1.0; rows];
    let rows = out.par_chunks_mut(width.max(1)).zip(&mut scales).zip(input.par_chunks(width.max(1)));
    threads::for_each(rows, |((out, scale), row)| {
        let largest = row.iter().map(|x| x.to_f32().abs()).fold(0.0, f32::max);
        if largest > 0.0 {
            *scale = largest / format.max();
        }
        out.iter_mut().zip(row).for_each(|(out, x)| *out = format.encode(x.to_f32() / *scale));
    });
    Ok((out, scales))
}
