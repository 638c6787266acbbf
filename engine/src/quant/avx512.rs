//! The K types with AVX-512 and VNNI: 64 numbers an instruction, and the product with a group's scale and its sum in one.

#![allow(unsafe_code)] // loads through pointers; the callers check the processor
#![allow(clippy::needless_range_loop)] // `n` counts rows of several arrays at once

use super::activations::Activations;
use super::avx2;
use crate::gguf::TensorType;
use std::arch::x86_64::*;

/// Whether this processor has what the functions of this file need.
pub(super) fn is_there() -> bool {
    avx2::is_there()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni")
}

/// As [`avx2::dot`], which it uses for the other types.
#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) fn dot<const N: usize>(
    kind: TensorType,
    weights: &[u8],
    x: &Activations<'_>,
    first: usize,
) -> [f32; N] {
    assert_eq!(weights.len(), kind.row_bytes(x.columns), "a row of weights for a row of activations");
    match kind {
        TensorType::Q4_K => {
            with_minima::<N, 144>(weights, x, first, |block, pair| avx2::q4_k_pair(block, pair))
        }
        TensorType::Q5_K => {
            with_minima::<N, 176>(weights, x, first, |block, pair| avx2::q5_k_pair(block, pair))
        }
        TensorType::Q6_K => q6_k(weights, x, first),
        _ => avx2::dot(kind, weights, x, first),
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(integers: &[[i8; 32]; 2]) -> __m512i {
    // SAFETY: an unaligned load of the 64 bytes that the reference covers.
    unsafe { _mm512_loadu_si512(integers.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn both([low, high]: [__m256i; 2]) -> __m512i {
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

#[target_feature(enable = "avx2,avx512f")]
#[inline]
fn folded(total: __m512i) -> __m256i {
    _mm256_add_epi32(_mm512_castsi512_si256(total), _mm512_extracti64x4_epi64::<1>(total))
}

#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512vnni")]
#[inline]
fn with_minima<const N: usize, const B: usize>(
    weights: &[u8],
    x: &Activations<'_>,
    first: usize,
    unpack: impl Fn(&[u8; B], usize) -> [__m256i; 2],
) -> [f32; N] {
    let mut sums = avx2::Sums::<N>::new();
    let (blocks, _) = weights.as_chunks::<B>();
    let rows = avx2::rows_of::<N>(x, first, blocks.len());
    for (i, block) in blocks.iter().enumerate() {
        let (scales, minima) = avx2::scales_and_minima(avx2::part(block, 4));
        let mut totals = [_mm512_setzero_si512(); N];
        for pair in 0..4 {
            let w = both(unpack(block, pair));
            let scale = both([avx2::scale_of(scales, 2 * pair), avx2::scale_of(scales, 2 * pair + 1)]);
            for n in 0..N {
                let products = _mm512_maddubs_epi16(w, load(&rows[n][i].integers[pair]));
                totals[n] = _mm512_dpwssd_epi32(totals[n], scale, products);
            }
        }
        let (scale, minimum) = (avx2::half_at(block, 0), avx2::half_at(block, 2));
        for n in 0..N {
            sums.add(n, scale * rows[n][i].scale, folded(totals[n]));
            sums.take_minima(n, minimum * rows[n][i].scale, minima, &rows[n][i].group_sums);
        }
    }
    sums.finish()
}

#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512vnni")]
fn q6_k<const N: usize>(weights: &[u8], x: &Activations<'_>, first: usize) -> [f32; N] {
    let mut sums = avx2::Sums::<N>::new();
    let (blocks, _) = weights.as_chunks::<210>();
    let rows = avx2::rows_of::<N>(x, first, blocks.len());
    for (i, block) in blocks.iter().enumerate() {
        let group_scales = avx2::q6_k_scales(block);
        let mut totals = [_mm512_setzero_si512(); N];
        for pair in 0..4 {
            let w = both([avx2::q6_k_group(block, 2 * pair), avx2::q6_k_group(block, 2 * pair + 1)]);
            let scale = both([
                avx2::q6_k_scale_of(group_scales, 2 * pair),
                avx2::q6_k_scale_of(group_scales, 2 * pair + 1),
            ]);
            for n in 0..N {
                let products = _mm512_maddubs_epi16(w, load(&rows[n][i].integers[pair]));
                totals[n] = _mm512_dpwssd_epi32(totals[n], scale, products);
            }
        }
        let scale = avx2::half_at(block, 208);
        for n in 0..N {
            let total =
                _mm256_add_epi32(folded(totals[n]), avx2::q6_k_excess(group_scales, &rows[n][i].sums));
            sums.add(n, scale * rows[n][i].scale, total);
        }
    }
    sums.finish()
}
