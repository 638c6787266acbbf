use super::{Element, ShapeError, threads};
use rayon::prelude::*;

/// The function of a gated activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `x / (1 + e^-x)`.
    Silu,
    /// `x / 2 (1 + erf(x / sqrt(2)))`.
    Gelu,
    /// `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`.
    GeluTanh,
}

impl Activation {
    /// Its value at `x`.
    pub fn apply(self, x: f32) -> f32 {
        match self {
            Self::Silu => x * sigmoid(x),
            Self::Gelu => (f64::from(x) * 0.5 * erfc(-f64::from(x) * std::f64::consts::FRAC_1_SQRT_2)) as f32,
            // (1 + tanh u) / 2 is sigmoid(2 u), which does not cancel where x is negative.
            Self::GeluTanh => x * sigmoid(2.0 * 0.797_884_6 * (x + 0.044_715 * x * x * x)),
        }
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The complementary error function, to 1e-13 of its value: the Taylor series of erf near zero, the continued fraction of erfc far from it
/// (Abramowitz and Stegun, 7.1.5 and 7.1.14).
fn erfc(x: f64) -> f64 {
    if x.abs() < 2.5 {
        let mut term = x;
        let mut sum = x;
        for n in 1..60 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return 1.0 - std::f64::consts::FRAC_2_SQRT_PI * sum;
    }
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    let fraction = (1..80).rev().fold(x, |tail, n| x + f64::from(n) / 2.0 / tail);
    (-x * x).exp() / fraction * (std::f64::consts::FRAC_2_SQRT_PI / 2.0)
}

/// `out[row, c] = f(input[row, c]) * input[row, width + c]` for an input of `[rows, 2 * width]`; the output is `[rows, width]`.
///
/// # Errors
/// [`ShapeError`] when `input` does not hold `rows * 2 * width` elements.
pub fn gated_activation<T: Element>(
    activation: Activation,
    input: &[T],
    rows: usize,
    width: usize,
) -> Result<Vec<f32>, ShapeError> {
    ShapeError::length("input", rows * 2 * width, input.len())?;
    let mut out = vec![0.0; rows * width];
    if out.is_empty() {
        return Ok(out);
    }
    threads::for_each(out.par_chunks_mut(width).zip(input.par_chunks(2 * width)), |(out, row)| {
        let (gate, up) = row.split_at(width);
        for ((out, gate), up) in out.iter_mut().zip(gate).zip(up) {
            *out = activation.apply(gate.to_f32()) * up.to_f32();
        }
    });
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::erfc;

    #[test]
    fn erfc_has_the_tabulated_values() {
        // Abramowitz and Stegun, table 7.1, and 7.3 for the tail.
        let table = [
            (0.0, 1.0),
            (0.5, 0.479_500_122_186_953_5),
            (1.0, 0.157_299_207_050_285_1),
            (2.0, 4.677_734_981_047_266e-3),
            (3.0, 2.209_049_699_858_544e-5),
            (5.0, 1.537_459_794_428_035e-12),
        ];
        for (x, value) in table {
            assert!((erfc(x) - value).abs() <= 1e-11 * value, "erfc({x}) = {}", erfc(x));
            assert!((erfc(-x) - (2.0 - value)).abs() <= 1e-14 * 2.0, "erfc(-{x})");
        }
        assert!((erfc(2.4999) - erfc(2.5001)).abs() < 1e-6, "the two forms meet");
        assert_eq!(erfc(f64::INFINITY), 0.0);
        assert!(erfc(f64::NAN).is_nan());
    }
}
