//! Panels of sixteen rows with AVX-512 and VNNI: four products and their sum a lane and instruction.

#![allow(unsafe_code)] // loads through references; the callers check the processor
#![allow(clippy::needless_range_loop)] // `t` counts rows of several arrays at once

use super::tiles::Tile;
use super::{Panel, Shape, TILE, Tiles, of_tile};
use crate::gguf::TensorType;
use std::arch::x86_64::*;

/// Rows of a panel: the lanes of a vector.
const ROWS: usize = 16;

#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) fn products(kind: TensorType, bytes: &[u8], x: &Tiles, out: &mut [f32]) {
    let panel = Panel::<ROWS>::new(kind, bytes, x.columns);
    for (number, tile) in x.tiles.iter().enumerate() {
        let sums = match Shape::of(kind) {
            None => floats(&panel, tile),
            Some(Shape { group: 16, .. }) => integers::<4, false>(&panel, tile),
            Some(Shape { has_minima: true, .. }) => integers::<8, true>(&panel, tile),
            Some(_) => integers::<8, false>(&panel, tile),
        };
        for (out, sum) in of_tile(out, number, ROWS).zip(sums) {
            store(out, sum);
        }
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(out: &mut [f32], sum: __m512) {
    assert_eq!(out.len(), ROWS);
    // SAFETY: an unaligned store of the sixteen floats that were counted.
    unsafe { _mm512_storeu_ps(out.as_mut_ptr(), sum) };
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(numbers: &[f32; ROWS]) -> __m512 {
    // SAFETY: an unaligned load of the 64 bytes that the reference covers.
    unsafe { _mm512_loadu_ps(numbers.as_ptr()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_bytes(bytes: &[[u8; 4]; ROWS]) -> __m512i {
    // SAFETY: an unaligned load of the 64 bytes that the reference covers.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn floats(panel: &Panel<ROWS>, tile: &Tile) -> [__m512; TILE] {
    let mut sums = [_mm512_setzero_ps(); TILE];
    for (weights, x) in panel.floats.iter().zip(&tile.floats) {
        let weights = load(weights);
        for t in 0..TILE {
            sums[t] = _mm512_fmadd_ps(weights, _mm512_set1_ps(x[t]), sums[t]);
        }
    }
    sums
}

/// `STEPS`: fours of a group.
#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512vnni")]
#[inline]
fn integers<const STEPS: usize, const HAS_MINIMA: bool>(panel: &Panel<ROWS>, tile: &Tile) -> [__m512; TILE] {
    let mut sums = [_mm512_setzero_ps(); TILE];
    let weights = panel.bytes.as_chunks::<STEPS>().0.iter().zip(&panel.scales);
    let x = tile.integers.as_chunks::<STEPS>().0.iter().zip(&tile.scales).zip(&tile.starts);
    for (group, ((weights, scale), ((x, x_scale), start))) in weights.zip(x).enumerate() {
        let mut totals = [_mm512_setzero_si512(); TILE];
        if !HAS_MINIMA {
            for t in 0..TILE {
                totals[t] = _mm512_set1_epi32(start[t]);
            }
        }
        for step in 0..STEPS {
            let weights = load_bytes(&weights[step]);
            for t in 0..TILE {
                totals[t] = _mm512_dpbusd_epi32(totals[t], weights, _mm512_set1_epi32(x[step][t]));
            }
        }
        let scale = load(scale);
        for t in 0..TILE {
            let scale = _mm512_mul_ps(scale, _mm512_set1_ps(x_scale[t]));
            sums[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(totals[t]), scale, sums[t]);
        }
        if HAS_MINIMA {
            let minimum = load(&panel.minima[group]);
            for t in 0..TILE {
                sums[t] = _mm512_fnmadd_ps(minimum, _mm512_set1_ps(tile.sums[group][t]), sums[t]);
            }
        }
    }
    sums
}
