//! Dot products with AVX2: one row of weights against `N` rows of activations at once, so that unpacking is paid once.

#![allow(unsafe_code)] // loads through pointers; the callers check the processor
#![allow(clippy::needless_range_loop)] // `n` counts rows of several arrays at once

use super::activations::Activations;
use super::dequantise::{IQ4_NL, scale_and_minimum};
use crate::gguf::TensorType;
use std::arch::x86_64::*;

/// Whether this processor has what the functions of this file need.
pub(super) fn is_there() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c")
}

/// `weights`, a row of `kind`, times the rows of `x` from `first` on.
///
/// # Panics
/// When the row and the activations differ in length.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot<const N: usize>(
    kind: TensorType,
    weights: &[u8],
    x: &Activations<'_>,
    first: usize,
) -> [f32; N] {
    assert_eq!(weights.len(), kind.row_bytes(x.columns), "a row of weights for a row of activations");
    match kind {
        TensorType::F32 => floats(weights, x, first, |bytes: &[u8; 32]| _mm256_castsi256_ps(load(bytes))),
        TensorType::F16 => floats(weights, x, first, |bytes: &[u8; 16]| _mm256_cvtph_ps(load_half(bytes))),
        TensorType::BF16 => floats(weights, x, first, |bytes: &[u8; 16]| {
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(load_half(bytes))))
        }),
        TensorType::Q8_0 => blocks_32(weights, x, first, |bytes: &[u8; 32]| load(bytes)),
        TensorType::Q4_0 => blocks_32(weights, x, first, |bytes: &[u8; 16]| {
            _mm256_sub_epi8(nibbles(load_half(bytes)), _mm256_set1_epi8(8))
        }),
        TensorType::IQ4_NL => blocks_32(weights, x, first, |bytes: &[u8; 16]| {
            let table = _mm256_broadcastsi128_si256(load_half(&IQ4_NL.map(i8::cast_unsigned)));
            _mm256_shuffle_epi8(table, nibbles(load_half(bytes)))
        }),
        TensorType::Q4_K => q4_k(weights, x, first),
        TensorType::Q5_K => q5_k(weights, x, first),
        TensorType::Q6_K => q6_k(weights, x, first),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: an unaligned load of the 32 bytes that the reference covers.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_half(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: an unaligned load of the 16 bytes that the reference covers.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_floats(floats: &[f32; 8]) -> __m256 {
    // SAFETY: an unaligned load of the eight floats that the reference covers.
    unsafe { _mm256_loadu_ps(floats.as_ptr()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_integers(integers: &[i8; 32]) -> __m256i {
    // SAFETY: an unaligned load of the 32 bytes that the reference covers.
    unsafe { _mm256_loadu_si256(integers.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_sums(sums: &[i16; 16]) -> __m256i {
    // SAFETY: an unaligned load of the 32 bytes that the reference covers.
    unsafe { _mm256_loadu_si256(sums.as_ptr().cast()) }
}

/// A part of fixed length of a slice.
#[inline]
fn part<const L: usize, T>(slice: &[T], at: usize) -> &[T; L] {
    slice[at..at + L].try_into().expect("a slice of that length")
}

#[target_feature(enable = "avx2,f16c")]
#[inline]
fn half_at(bytes: &[u8], at: usize) -> f32 {
    let bits = i32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)))
}

/// Low nibbles in the low half, high nibbles in the high half.
#[target_feature(enable = "avx2")]
#[inline]
fn nibbles(bytes: __m128i) -> __m256i {
    let both = _mm256_set_m128i(_mm_srli_epi16::<4>(bytes), bytes);
    _mm256_and_si256(both, _mm256_set1_epi8(15))
}

#[target_feature(enable = "avx2")]
#[inline]
fn sum(lanes: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps::<1>(lanes));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}

/// Eight weights of `B` bytes at a time, made f32 by `widen`; what is left over one by one.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn floats<const N: usize, const B: usize>(
    weights: &[u8],
    x: &Activations<'_>,
    first: usize,
    widen: impl Fn(&[u8; B]) -> __m256,
) -> [f32; N] {
    let rows: [&[f32]; N] = std::array::from_fn(|n| &x.floats[(first + n) * x.columns..][..x.columns]);
    let mut sums = [_mm256_setzero_ps(); N];
    let blocks = weights.chunks_exact(B);
    let rest = blocks.remainder();
    for (i, block) in blocks.enumerate() {
        let w = widen(part(block, 0));
        for n in 0..N {
            sums[n] = _mm256_fmadd_ps(w, load_floats(part(rows[n], i * 8)), sums[n]);
        }
    }
    let mut last = [0_u8; B];
    last[..rest.len()].copy_from_slice(rest);
    let w = widen(&last);
    let done = x.columns / 8 * 8;
    std::array::from_fn(|n| {
        let mut padded = [0.0; 8];
        padded[..x.columns - done].copy_from_slice(&rows[n][done..]);
        sum(_mm256_fmadd_ps(w, load_floats(&padded), sums[n]))
    })
}

/// Blocks of an f16 scale and `B` bytes that `unpack` makes 32 signed bytes.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn blocks_32<const N: usize, const B: usize>(
    weights: &[u8],
    x: &Activations<'_>,
    first: usize,
    unpack: impl Fn(&[u8; B]) -> __m256i,
) -> [f32; N] {
    let blocks = x.columns / 32;
    let integers: [&[i8]; N] = std::array::from_fn(|n| &x.integers[(first + n) * x.columns..][..x.columns]);
    let scales: [&[f32]; N] = std::array::from_fn(|n| &x.scales[(first + n) * blocks..][..blocks]);
    let mut sums = [_mm256_setzero_ps(); N];
    let ones = _mm256_set1_epi16(1);
    for (i, block) in weights.chunks_exact(2 + B).enumerate() {
        let scale = half_at(block, 0);
        let w = unpack(part(block, 2));
        let size = _mm256_sign_epi8(w, w);
        for n in 0..N {
            // The product takes an unsigned and a signed byte: the weight's sign moves to the activation.
            let signed = _mm256_sign_epi8(load_integers(part(integers[n], i * 32)), w);
            let products = _mm256_madd_epi16(_mm256_maddubs_epi16(size, signed), ones);
            let scale = _mm256_set1_ps(scale * scales[n][i]);
            sums[n] = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(products), sums[n]);
        }
    }
    sums.map(|lanes| sum(lanes))
}

/// The rows of activations that a dot product of K types reads.
struct Rows<'a, const N: usize> {
    integers: [&'a [i8]; N],
    scales: [&'a [f32]; N],
    sums: [&'a [i16]; N],
}

impl<'a, const N: usize> Rows<'a, N> {
    fn new(x: &'a Activations<'_>, first: usize) -> Self {
        let blocks = x.columns / 256;
        Self {
            integers: std::array::from_fn(|n| &x.integers[(first + n) * x.columns..][..x.columns]),
            scales: std::array::from_fn(|n| &x.scales[(first + n) * blocks..][..blocks]),
            sums: std::array::from_fn(|n| &x.sums[(first + n) * blocks * 16..][..blocks * 16]),
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn q4_k<const N: usize>(weights: &[u8], x: &Activations<'_>, first: usize) -> [f32; N] {
    let low = _mm256_set1_epi8(15);
    with_minima::<N, 144>(weights, x, first, |block, group| {
        let bytes = load(part(block, 16 + group / 2 * 32));
        let nibble = if group % 2 == 0 { bytes } else { _mm256_srli_epi16::<4>(bytes) };
        _mm256_and_si256(nibble, low)
    })
}

#[target_feature(enable = "avx2,fma,f16c")]
fn q5_k<const N: usize>(weights: &[u8], x: &Activations<'_>, first: usize) -> [f32; N] {
    let (low, fifth) = (_mm256_set1_epi8(15), _mm256_set1_epi8(16));
    with_minima::<N, 176>(weights, x, first, |block, group| {
        let bytes = load(part(block, 48 + group / 2 * 32));
        let nibble = if group % 2 == 0 { bytes } else { _mm256_srli_epi16::<4>(bytes) };
        let bit = _mm256_set1_epi8((1_u8 << group).cast_signed());
        let is_clear =
            _mm256_cmpeq_epi8(_mm256_and_si256(load(part(block, 16)), bit), _mm256_setzero_si256());
        _mm256_or_si256(_mm256_and_si256(nibble, low), _mm256_andnot_si256(is_clear, fifth))
    })
}

/// Blocks of eight groups of 32 unsigned numbers with scales and minima; `unpack` gives a group.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn with_minima<const N: usize, const B: usize>(
    weights: &[u8],
    x: &Activations<'_>,
    first: usize,
    unpack: impl Fn(&[u8], usize) -> __m256i,
) -> [f32; N] {
    let rows = Rows::<N>::new(x, first);
    let mut sums = [_mm256_setzero_ps(); N];
    let mut offsets = [_mm_setzero_ps(); N];
    for (i, block) in weights.chunks_exact(B).enumerate() {
        let (scale, minimum) = (half_at(block, 0), half_at(block, 2));
        let groups: [(u8, u8); 8] = std::array::from_fn(|group| scale_and_minimum(&block[4..16], group));
        let m = groups.map(|(_, minimum)| i16::from(minimum));
        let minima = _mm_set_epi16(m[7], m[6], m[5], m[4], m[3], m[2], m[1], m[0]);
        let mut totals = [_mm256_setzero_si256(); N];
        for (group, (group_scale, _)) in groups.into_iter().enumerate() {
            let w = unpack(block, group);
            let group_scale = _mm256_set1_epi16(i16::from(group_scale));
            for n in 0..N {
                let products =
                    _mm256_maddubs_epi16(w, load_integers(part(rows.integers[n], i * 256 + group * 32)));
                totals[n] = _mm256_add_epi32(totals[n], _mm256_madd_epi16(group_scale, products));
            }
        }
        for n in 0..N {
            let scales = _mm256_set1_ps(scale * rows.scales[n][i]);
            sums[n] = _mm256_fmadd_ps(scales, _mm256_cvtepi32_ps(totals[n]), sums[n]);
            let sixteens = load_sums(part(rows.sums[n], i * 16));
            let groups =
                _mm_hadd_epi16(_mm256_castsi256_si128(sixteens), _mm256_extracti128_si256::<1>(sixteens));
            let offset = _mm_cvtepi32_ps(_mm_madd_epi16(minima, groups));
            offsets[n] = _mm_fnmadd_ps(_mm_set1_ps(minimum * rows.scales[n][i]), offset, offsets[n]);
        }
    }
    std::array::from_fn(|n| sum(_mm256_add_ps(sums[n], _mm256_zextps128_ps256(offsets[n]))))
}

#[target_feature(enable = "avx2,fma,f16c")]
fn q6_k<const N: usize>(weights: &[u8], x: &Activations<'_>, first: usize) -> [f32; N] {
    let rows = Rows::<N>::new(x, first);
    let mut sums = [_mm256_setzero_ps(); N];
    for (i, block) in weights.chunks_exact(210).enumerate() {
        let scale = half_at(block, 208);
        let group_scales = _mm256_cvtepi8_epi16(load_half(part(block, 192)));
        // The numbers are taken as 0 to 63; the 32 that is too much goes off here.
        let mut totals: [__m256i; N] = std::array::from_fn(|n| {
            let sixteens = load_sums(part(rows.sums[n], i * 16));
            let excess = _mm256_madd_epi16(group_scales, sixteens);
            _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32::<5>(excess))
        });
        for group in 0..8 {
            let w = q6_k_group(block, group);
            let scales =
                [block[192 + group * 2], block[193 + group * 2]].map(|byte| i16::from(byte.cast_signed()));
            let group_scale = _mm256_set_m128i(_mm_set1_epi16(scales[1]), _mm_set1_epi16(scales[0]));
            for n in 0..N {
                let products =
                    _mm256_maddubs_epi16(w, load_integers(part(rows.integers[n], i * 256 + group * 32)));
                totals[n] = _mm256_add_epi32(totals[n], _mm256_madd_epi16(group_scale, products));
            }
        }
        for n in 0..N {
            let scales = _mm256_set1_ps(scale * rows.scales[n][i]);
            sums[n] = _mm256_fmadd_ps(scales, _mm256_cvtepi32_ps(totals[n]), sums[n]);
        }
    }
    sums.map(|lanes| sum(lanes))
}

/// 32 numbers of a block, 0 to 63 each.
#[target_feature(enable = "avx2")]
#[inline]
fn q6_k_group(block: &[u8], group: usize) -> __m256i {
    let (half, quarter) = (group / 4, group % 4);
    let low = load(part(block, half * 64 + quarter % 2 * 32));
    let nibble = if quarter < 2 { low } else { _mm256_srli_epi16::<4>(low) };
    let high = load(part(block, 128 + half * 32));
    // Bits 2·quarter and the next go to bits 4 and 5.
    let high = match quarter {
        0 => _mm256_slli_epi16::<4>(high),
        1 => _mm256_slli_epi16::<2>(high),
        2 => high,
        _ => _mm256_srli_epi16::<2>(high),
    };
    let nibble = _mm256_and_si256(nibble, _mm256_set1_epi8(15));
    _mm256_or_si256(nibble, _mm256_and_si256(high, _mm256_set1_epi8(0x30)))
}
