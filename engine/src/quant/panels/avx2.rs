//! Panels of eight rows with AVX2.

#![allow(unsafe_code)] // loads through references; the callers check the processor
#![allow(clippy::needless_range_loop)] // `t` counts rows of several arrays at once

use super::tiles::Tile;
use super::{Panel, Shape, TILE, Tiles, of_tile};
use crate::gguf::TensorType;
use std::arch::x86_64::*;

/// Rows of a panel: the lanes of a vector.
const ROWS: usize = 8;
/// Rows of activations at once: sums and totals of half a tile fit into the sixteen registers.
const HALF: usize = TILE / 2;

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn products(kind: TensorType, bytes: &[u8], x: &Tiles, out: &mut [f32]) {
    let panel = Panel::<ROWS>::new(kind, bytes, x.columns);
    for (number, tile) in x.tiles.iter().enumerate() {
        let mut halves = [[_mm256_setzero_ps(); HALF]; 2];
        match Shape::of(kind) {
            None => halves = floats(&panel, tile),
            Some(shape) => {
                for (half, sums) in halves.iter_mut().enumerate() {
                    *sums = match shape {
                        Shape { group: 16, .. } => integers::<4, false, false>(&panel, tile, half * HALF),
                        Shape { has_minima: true, .. } => {
                            integers::<8, true, false>(&panel, tile, half * HALF)
                        }
                        Shape { offset: 128, .. } => integers::<8, false, true>(&panel, tile, half * HALF),
                        _ => integers::<8, false, false>(&panel, tile, half * HALF),
                    };
                }
            }
        }
        for (out, sum) in of_tile(out, number, ROWS).zip(halves.into_iter().flatten()) {
            store(out, sum);
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(out: &mut [f32], sum: __m256) {
    assert_eq!(out.len(), ROWS);
    // SAFETY: an unaligned store of the eight floats that were counted.
    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), sum) };
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(numbers: &[f32; ROWS]) -> __m256 {
    // SAFETY: an unaligned load of the 32 bytes that the reference covers.
    unsafe { _mm256_loadu_ps(numbers.as_ptr()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_bytes(bytes: &[[u8; 4]; ROWS]) -> __m256i {
    // SAFETY: an unaligned load of the 32 bytes that the reference covers.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn floats(panel: &Panel<ROWS>, tile: &Tile) -> [[__m256; HALF]; 2] {
    let mut sums = [[_mm256_setzero_ps(); HALF]; 2];
    for (weights, x) in panel.floats.iter().zip(&tile.floats) {
        let weights = load(weights);
        for t in 0..TILE {
            let sum = &mut sums[t / HALF][t % HALF];
            *sum = _mm256_fmadd_ps(weights, _mm256_set1_ps(x[t]), *sum);
        }
    }
    sums
}

/// `STEPS`: fours of a group. `IS_WIDE`: the weights take all eight bits, and products of two of them with activations would not fit into 16 bits:
/// they get their sign back, which moves to the activation.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn integers<const STEPS: usize, const HAS_MINIMA: bool, const IS_WIDE: bool>(
    panel: &Panel<ROWS>,
    tile: &Tile,
    first: usize,
) -> [__m256; HALF] {
    let mut sums = [_mm256_setzero_ps(); HALF];
    let ones = _mm256_set1_epi16(1);
    let weights = panel.bytes.as_chunks::<STEPS>().0.iter().zip(&panel.scales);
    let x = tile.integers.as_chunks::<STEPS>().0.iter().zip(&tile.scales).zip(&tile.starts);
    for (group, ((weights, scale), ((x, x_scale), start))) in weights.zip(x).enumerate() {
        let mut totals = [_mm256_setzero_si256(); HALF];
        if !HAS_MINIMA && !IS_WIDE {
            for t in 0..HALF {
                totals[t] = _mm256_set1_epi32(start[first + t]);
            }
        }
        for step in 0..STEPS {
            let weights = load_bytes(&weights[step]);
            let signed = _mm256_xor_si256(weights, _mm256_set1_epi8(-128));
            let size = if IS_WIDE { _mm256_abs_epi8(signed) } else { weights };
            for t in 0..HALF {
                let x = _mm256_set1_epi32(x[step][first + t]);
                let x = if IS_WIDE { _mm256_sign_epi8(x, signed) } else { x };
                let products = _mm256_madd_epi16(_mm256_maddubs_epi16(size, x), ones);
                totals[t] = _mm256_add_epi32(totals[t], products);
            }
        }
        let scale = load(scale);
        for t in 0..HALF {
            let scale = _mm256_mul_ps(scale, _mm256_set1_ps(x_scale[first + t]));
            sums[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(totals[t]), scale, sums[t]);
        }
        if HAS_MINIMA {
            let minimum = load(&panel.minima[group]);
            for t in 0..HALF {
                sums[t] = _mm256_fnmadd_ps(minimum, _mm256_set1_ps(tile.sums[group][first + t]), sums[t]);
            }
        }
    }
    sums
}
