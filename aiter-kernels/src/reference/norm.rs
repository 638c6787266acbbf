use super::{Element, ShapeError, threads};
use rayon::prelude::*;

/// What is done to each row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Norm {
    /// `x / sqrt(mean(x^2) + epsilon)`.
    Rms {
        /// Added to the mean square.
        epsilon: f32,
    },
    /// `(x - mean(x)) / sqrt(variance(x) + epsilon)`, the variance over all elements.
    Layer {
        /// Added to the variance.
        epsilon: f32,
    },
    /// `e^x / sum(e^x)`.
    Softmax,
}

impl Norm {
    fn apply(self, row: &mut [f32]) {
        match self {
            Self::Rms { epsilon } => {
                let factor = (mean(row, |x| x * x) + f64::from(epsilon)).sqrt().recip();
                row.iter_mut().for_each(|x| *x = (f64::from(*x) * factor) as f32);
            }
            Self::Layer { epsilon } => {
                let centre = mean(row, |x| x);
                row.iter_mut().for_each(|x| *x = (f64::from(*x) - centre) as f32);
                Self::Rms { epsilon }.apply(row);
            }
            Self::Softmax => {
                let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                row.iter_mut().for_each(|x| *x = (*x - top).exp());
                let sum: f64 = row.iter().copied().map(f64::from).sum();
                row.iter_mut().for_each(|x| *x = (f64::from(*x) / sum) as f32);
            }
        }
    }
}

/// In f64: one after the other, f32 sums of a row of 4,096 err by ten times as much as the tree of a kernel.
fn mean(row: &[f32], f: fn(f64) -> f64) -> f64 {
    row.iter().map(|&x| f(f64::from(x))).sum::<f64>() / row.len() as f64
}

/// The tensors of a norm; `weight` and `bias` are one row, the others `[rows, width]`.
#[derive(Debug, Clone, Copy)]
pub struct NormInputs<'a, T> {
    /// The rows.
    pub input: &'a [T],
    /// Added to the rows before the norm.
    pub residual: Option<&'a [T]>,
    /// Factor of each column after the norm; `None`: one.
    pub weight: Option<&'a [T]>,
    /// Added to each column at the end; `None`: zero.
    pub bias: Option<&'a [T]>,
}

/// `norm(input + residual) * weight + bias` for each row of `width` elements, and the sum `input + residual`, rounded to the tensors' type
/// as it is before the norm sees it.
///
/// # Errors
/// [`ShapeError`] when `input` is not whole rows, or names the tensor that does not fit it.
pub fn norm<T: Element>(
    norm: Norm,
    inputs: NormInputs<'_, T>,
    width: usize,
) -> Result<(Vec<f32>, Vec<f32>), ShapeError> {
    let NormInputs { input, residual, weight, bias } = inputs;
    let rows = input.len().checked_div(width).unwrap_or(0);
    ShapeError::length("input", rows * width, input.len())?;
    ShapeError::length("residual", input.len(), residual.map_or(input.len(), <[T]>::len))?;
    ShapeError::length("weight", width, weight.map_or(width, <[T]>::len))?;
    ShapeError::length("bias", width, bias.map_or(width, <[T]>::len))?;

    let sums: Vec<f32> = match residual {
        None => input.iter().map(|x| x.to_f32()).collect(),
        Some(residual) => {
            let sum = |(x, r): (&T, &T)| T::from_f32(x.to_f32() + r.to_f32()).to_f32();
            input.iter().zip(residual).map(sum).collect()
        }
    };
    let mut out = sums.clone();
    threads::for_each(out.par_chunks_mut(width.max(1)), |row| {
        norm.apply(row);
        for (c, x) in row.iter_mut().enumerate() {
            *x = *x * weight.map_or(1.0, |w| w[c].to_f32()) + bias.map_or(0.0, |b| b[c].to_f32());
        }
    });
    Ok((out, sums))
}
