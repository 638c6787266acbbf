//! RMS norm.

/// `out[row, c] = input[row, c] / sqrt(mean(input[row, :]^2) + epsilon) * weight[c]`, with as many columns as there are weights. Sums are `f64`, so that
/// the reference's own error is far below a float's.
///
/// # Panics
/// If `input` is no whole number of rows.
pub fn rms_norm(input: &[f32], weight: &[f32], epsilon: f32) -> Vec<f32> {
    let columns = weight.len();
    assert_eq!(input.len() % columns.max(1), 0, "{} numbers are no rows of {columns}", input.len());
    let mut out = Vec::with_capacity(input.len());
    for row in input.chunks_exact(columns.max(1)) {
        let squares: f64 = row.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
        let scale = (squares / columns as f64 + f64::from(epsilon)).sqrt().recip();
        out.extend(row.iter().zip(weight).map(|(x, w)| (f64::from(*x) * scale * f64::from(*w)) as f32));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_can_be_computed_by_hand() {
        // The mean of 9 and 16 is 12.5; with epsilon 3.5 the root is 4.
        assert_eq!(rms_norm(&[3.0, 4.0], &[1.0, 2.0], 3.5), [0.75, 2.0]);
        assert_eq!(rms_norm(&[2.0, -2.0, 0.0, 0.0], &[1.0, 1.0], 0.0)[..2], [1.0, -1.0]);
    }

    #[test]
    fn each_row_stands_alone() {
        let weight = [1.0, 0.5, -1.0];
        let (a, b) = ([1.0, 2.0, 3.0], [-4.0, 0.0, 1.0]);
        let both = rms_norm(&[a, b].concat(), &weight, 1e-6);
        assert_eq!(both, [rms_norm(&a, &weight, 1e-6), rms_norm(&b, &weight, 1e-6)].concat());
    }

    #[test]
    fn the_scale_of_a_row_does_not_matter() {
        let weight = [1.0; 4];
        let row = [0.1, -0.7, 0.3, 0.9];
        for (a, b) in
            rms_norm(&row, &weight, 0.0).iter().zip(rms_norm(&row.map(|x| x * 1024.0), &weight, 0.0))
        {
            assert!((a - b).abs() <= 1e-6 * a.abs(), "{a} {b}");
        }
    }

    #[test]
    fn a_row_of_zeros_is_kept_from_infinity_by_epsilon() {
        assert_eq!(rms_norm(&[0.0; 3], &[1.0; 3], 1e-6), [0.0; 3]);
        assert_eq!(rms_norm(&[], &[], 1e-6), [0.0; 0]);
    }
}
