//! Vectors of f32 and f16, compiled once for AVX2 and once for every processor.

#![allow(unsafe_code)] // calls into the AVX2 copies, after a look at the processor

use crate::quant::Code;

/// Defines a function whose body is compiled for AVX2 too and chosen by `Code`.
macro_rules! for_both {
    ($(#[$doc:meta])* $name:ident, $avx2:ident, $portable:ident, ($($arg:ident: $kind:ty),*) $(-> $result:ty)?, $body:block) => {
        #[inline(always)]
        fn $portable($($arg: $kind),*) $(-> $result)? $body

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c")]
        fn $avx2($($arg: $kind),*) $(-> $result)? {
            $portable($($arg),*)
        }

        $(#[$doc])*
        pub(super) fn $name(code: Code, $($arg: $kind),*) $(-> $result)? {
            match code {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: it is made by `Code::there` alone, after a look at the processor.
                Code::Avx2 | Code::Avx512 => unsafe { $avx2($($arg),*) },
                _ => $portable($($arg),*),
            }
        }
    };
}

for_both!(
    /// `a · b`.
    dot, dot_avx2, dot_portable, (a: &[f32], b: &[f32]) -> f32, {
        let mut lanes = [[0.0_f32; 8]; 4];
        let (a_blocks, b_blocks) = (a.chunks_exact(32), b.chunks_exact(32));
        let rest: f32 = a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(a, b)| a * b).sum();
        for (a, b) in a_blocks.zip(b_blocks) {
            for i in 0..4 {
                for j in 0..8 {
                    lanes[i][j] += a[i * 8 + j] * b[i * 8 + j];
                }
            }
        }
        let sums: [f32; 8] = std::array::from_fn(|j| lanes[0][j] + lanes[1][j] + lanes[2][j] + lanes[3][j]);
        sums.iter().sum::<f32>() + rest
    }
);

for_both!(
    /// `sum += factor · x`.
    add_scaled, add_scaled_avx2, add_scaled_portable, (sum: &mut [f32], factor: f32, x: &[f32]), {
        for (sum, x) in sum.iter_mut().zip(x) {
            *sum += factor * x;
        }
    }
);

for_both!(
    /// `gate = silu(gate) · up`.
    silu_times, silu_times_avx2, silu_times_portable, (gate: &mut [f32], up: &[f32]), {
        for (gate, up) in gate.iter_mut().zip(up) {
            *gate = *gate / (1.0 + exp(-*gate)) * up;
        }
    }
);

/// `e^x` to 3e-7 of itself, in steps that a compiler makes vectors of. Beyond ±87 it stays where it is there.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0; // 1.5 · 2^23: what is added to it is rounded to an integer in its low bits
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4]; // in two parts, so that a product with the first is exact
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + MAGIC;
    let n = shifted - MAGIC;
    let r = x - n * LN_2[0] - n * LN_2[1];
    let series = 1.0 / 120.0 + r * (1.0 / 720.0);
    let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * series))));
    let power = shifted.to_bits().wrapping_sub(MAGIC.to_bits()).wrapping_add(127) << 23;
    series * f32::from_bits(power)
}

/// Makes f16 numbers f32.
pub(super) fn widen(code: Code, halves: &[u16], out: &mut [f32]) {
    match code {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: it is made by `Code::there` alone, after a look at the processor.
        Code::Avx2 | Code::Avx512 => unsafe { widen_avx2(halves, out) },
        _ => widen_portable(halves, out),
    }
}

fn widen_portable(halves: &[u16], out: &mut [f32]) {
    for (out, half) in out.iter_mut().zip(halves) {
        *out = half::f16::from_bits(*half).to_f32();
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn widen_avx2(halves: &[u16], out: &mut [f32]) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm256_cvtph_ps, _mm256_storeu_ps};
    let (blocks, rest) = halves.as_chunks::<8>();
    let (outs, last) = out[..halves.len()].as_chunks_mut::<8>();
    for (block, out) in blocks.iter().zip(outs) {
        // SAFETY: an unaligned load of the 16 bytes of `block` and an unaligned store of the 32 bytes of `out`.
        unsafe {
            _mm256_storeu_ps(out.as_mut_ptr(), _mm256_cvtph_ps(_mm_loadu_si128(block.as_ptr().cast())));
        };
    }
    widen_portable(rest, last);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_as_exact_as_f32_allows() {
        for i in -8700..=8700 {
            let x = i as f32 / 100.0;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 3e-7, "{x}");
        }
        assert!(exp(f32::NAN).is_nan() && exp(f32::NEG_INFINITY) < 1e-37 && exp(f32::INFINITY) > 1e37);
    }

    #[test]
    fn all_code_computes_the_same() {
        let a: Vec<f32> = (0..77).map(|i| (i as f32 * 0.7).sin()).collect();
        let b: Vec<f32> = (0..77).map(|i| (i as f32 * 0.3).cos() * 8.0).collect();
        let halves: Vec<u16> = a.iter().map(|x| half::f16::from_f32(*x).to_bits()).collect();
        let results = Code::there().into_iter().map(|code| {
            let (mut sum, mut gate, mut wide) = (b.clone(), b.clone(), vec![0.0; 77]);
            add_scaled(code, &mut sum, 0.5, &a);
            silu_times(code, &mut gate, &a);
            widen(code, &halves, &mut wide);
            [vec![dot(code, &a, &b)], sum, gate, wide].concat()
        });
        let results: Vec<Vec<f32>> = results.collect();
        for other in &results[1..] {
            assert!(results[0].iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-4), "{other:?}");
        }
    }
}
