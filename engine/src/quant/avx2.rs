//! Dot products with AVX2: one row of weights against `N` rows of activations at once, so that unpacking is paid once.

#![allow(unsafe_code)] // loads through pointers; the callers check the processor
#![allow(clippy::needless_range_loop)] // `n` counts rows of several arrays at once

use super::activations::{Activations, Block256};
use super::dequantise::IQ4_NL;
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
        TensorType::Q8_0 => blocks_32::<N, 34, 32>(weights, x, first, |bytes| load(bytes)),
        TensorType::Q4_0 => blocks_32::<N, 18, 16>(weights, x, first, |bytes| {
            _mm256_sub_epi8(nibbles(load_half(bytes)), _mm256_set1_epi8(8))
        }),
        TensorType::IQ4_NL => blocks_32::<N, 18, 16>(weights, x, first, |bytes| iq4_nl(bytes)),
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

#[target_feature(enable = "avx2")]
#[inline]
fn load_group_sums(sums: &[i16; 8]) -> __m128i {
    // SAFETY: an unaligned load of the 16 bytes that the reference covers.
    unsafe { _mm_loadu_si128(sums.as_ptr().cast()) }
}

/// A part of fixed length of a slice.
#[inline]
pub(super) fn part<const L: usize, T>(slice: &[T], at: usize) -> &[T; L] {
    slice[at..at + L].try_into().expect("a slice of that length")
}

#[target_feature(enable = "avx2,f16c")]
#[inline]
pub(super) fn half_at(bytes: &[u8], at: usize) -> f32 {
    let bits = i32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)))
}

/// The f16 at the start of a block in all lanes. Not [`half_at`]: what loads a single f16 keeps the register's other bits, so each block would wait for the last.
#[target_feature(enable = "avx2,f16c")]
#[inline]
fn first_half(bytes: &[u8]) -> __m256 {
    _mm256_cvtph_ps(_mm_set1_epi16(i16::from_le_bytes([bytes[0], bytes[1]])))
}

/// Low nibbles in the low half, high nibbles in the high half.
#[target_feature(enable = "avx2")]
#[inline]
fn nibbles(bytes: __m128i) -> __m256i {
    let both = _mm256_set_m128i(_mm_srli_epi16::<4>(bytes), bytes);
    _mm256_and_si256(both, _mm256_set1_epi8(15))
}

/// The numbers of an IQ4_NL block.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn iq4_nl(bytes: &[u8; 16]) -> __m256i {
    let table = _mm256_broadcastsi128_si256(load_half(&IQ4_NL.map(i8::cast_unsigned)));
    _mm256_shuffle_epi8(table, nibbles(load_half(bytes)))
}

#[target_feature(enable = "avx2")]
#[inline]
fn sum(lanes: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps::<1>(lanes));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}

#[target_feature(enable = "avx2")]
#[inline]
fn each_sum<const N: usize>(lanes: [__m256; N]) -> [f32; N] {
    let mut sums = [0.0; N];
    for n in 0..N {
        sums[n] = sum(lanes[n]);
    }
    sums
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
    let (blocks, rest) = weights.as_chunks::<B>();
    if N == 1 {
        sums[0] = floats_of_one(blocks, rows[0], &widen);
    } else {
        for (i, block) in blocks.iter().enumerate() {
            let w = widen(block);
            for n in 0..N {
                sums[n] = _mm256_fmadd_ps(w, load_floats(part(rows[n], i * 8)), sums[n]);
            }
        }
    }
    let mut last = [0_u8; B];
    last[..rest.len()].copy_from_slice(rest);
    let w = widen(&last);
    let done = x.columns / 8 * 8;
    for n in 0..N {
        let mut padded = [0.0; 8];
        padded[..x.columns - done].copy_from_slice(&rows[n][done..]);
        sums[n] = _mm256_fmadd_ps(w, load_floats(&padded), sums[n]);
    }
    each_sum(sums)
}

/// One row of activations: in four sums, which do not wait for each other.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn floats_of_one<const B: usize>(
    blocks: &[[u8; B]],
    x: &[f32],
    widen: &impl Fn(&[u8; B]) -> __m256,
) -> __m256 {
    let (fours, rest) = blocks.as_chunks::<4>();
    let (x_fours, x_rest) = x.as_chunks::<32>();
    let mut sums = [_mm256_setzero_ps(); 4];
    for (blocks, x) in fours.iter().zip(x_fours) {
        for i in 0..4 {
            sums[i] = _mm256_fmadd_ps(widen(&blocks[i]), load_floats(part(x, i * 8)), sums[i]);
        }
    }
    for (block, x) in rest.iter().zip(x_rest.as_chunks::<8>().0) {
        sums[0] = _mm256_fmadd_ps(widen(block), load_floats(x), sums[0]);
    }
    total(sums)
}

#[target_feature(enable = "avx2")]
#[inline]
fn total([a, b, c, d]: [__m256; 4]) -> __m256 {
    _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d))
}

/// Blocks of `BLOCK` bytes: an f16 scale and `B` bytes that `unpack` makes 32 signed bytes.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn blocks_32<const N: usize, const BLOCK: usize, const B: usize>(
    weights: &[u8],
    x: &Activations<'_>,
    first: usize,
    unpack: impl Fn(&[u8; B]) -> __m256i,
) -> [f32; N] {
    let (blocks, _) = weights.as_chunks::<BLOCK>();
    let count = blocks.len();
    let (all, _) = x.integers.as_chunks::<32>();
    let integers: [&[[i8; 32]]; N] = std::array::from_fn(|n| &all[(first + n) * count..][..count]);
    let scales: [&[f32]; N] = std::array::from_fn(|n| &x.scales[(first + n) * count..][..count]);
    if N == 1 {
        let sum = blocks_32_of_one(blocks, integers[0], scales[0], &unpack);
        return each_sum([sum; N]);
    }
    let mut sums = [_mm256_setzero_ps(); N];
    for (i, block) in blocks.iter().enumerate() {
        let (scale, w) = (first_half(block), unpack(part(block, 2)));
        for n in 0..N {
            sums[n] = add_32(sums[n], w, scale, &integers[n][i], scales[n][i]);
        }
    }
    each_sum(sums)
}

/// One row of activations: in four sums, which do not wait for each other.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn blocks_32_of_one<const BLOCK: usize, const B: usize>(
    blocks: &[[u8; BLOCK]],
    integers: &[[i8; 32]],
    scales: &[f32],
    unpack: &impl Fn(&[u8; B]) -> __m256i,
) -> __m256 {
    let (fours, rest) = blocks.as_chunks::<4>();
    let (x_fours, x_rest) = integers.as_chunks::<4>();
    let (scale_fours, scale_rest) = scales.as_chunks::<4>();
    let mut sums = [_mm256_setzero_ps(); 4];
    for ((blocks, x), x_scales) in fours.iter().zip(x_fours).zip(scale_fours) {
        for i in 0..4 {
            let (scale, w) = (first_half(&blocks[i]), unpack(part(&blocks[i], 2)));
            sums[i] = add_32(sums[i], w, scale, &x[i], x_scales[i]);
        }
    }
    for ((block, x), x_scale) in rest.iter().zip(x_rest).zip(scale_rest) {
        sums[0] = add_32(sums[0], unpack(part(block, 2)), first_half(block), x, *x_scale);
    }
    total(sums)
}

/// Adds the products of 32 numbers. A product takes an unsigned and a signed byte: the weight's sign moves to the activation.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn add_32(sum: __m256, w: __m256i, scale: __m256, x: &[i8; 32], x_scale: f32) -> __m256 {
    let signed = _mm256_sign_epi8(load_integers(x), w);
    let products = _mm256_maddubs_epi16(_mm256_sign_epi8(w, w), signed);
    let products = _mm256_madd_epi16(products, _mm256_set1_epi16(1));
    let scale = _mm256_mul_ps(scale, _mm256_set1_ps(x_scale));
    _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(products), sum)
}

/// The blocks of the rows from `first` on, `count` each. A loop, here and below: a closure given to `array::from_fn` is compiled without AVX2 and not
/// inlined.
#[inline(always)]
pub(super) fn rows_of<'a, const N: usize>(
    x: &'a Activations<'_>,
    first: usize,
    count: usize,
) -> [&'a [Block256]; N] {
    let mut rows: [&[Block256]; N] = [&[]; N];
    for n in 0..N {
        rows[n] = &x.blocks[(first + n) * count..][..count];
    }
    rows
}

/// What N rows have summed up to.
pub(super) struct Sums<const N: usize> {
    products: [__m256; N],
    minima: [__m128; N],
}

impl<const N: usize> Sums<N> {
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn new() -> Self {
        Self { products: [_mm256_setzero_ps(); N], minima: [_mm_setzero_ps(); N] }
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub(super) fn add(&mut self, n: usize, scale: f32, total: __m256i) {
        self.products[n] =
            _mm256_fmadd_ps(_mm256_set1_ps(scale), _mm256_cvtepi32_ps(total), self.products[n]);
    }

    /// Takes off the minimum of each group, times the sum of its activations.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    pub(super) fn take_minima(&mut self, n: usize, scale: f32, minima: __m128i, sums: &[i16; 8]) {
        let offset = _mm_cvtepi32_ps(_mm_madd_epi16(minima, load_group_sums(sums)));
        self.minima[n] = _mm_fnmadd_ps(_mm_set1_ps(scale), offset, self.minima[n]);
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn finish(self) -> [f32; N] {
        let mut sums = [0.0; N];
        for n in 0..N {
            sums[n] = sum(_mm256_add_ps(self.products[n], _mm256_zextps128_ps256(self.minima[n])));
        }
        sums
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn q4_k<const N: usize>(weights: &[u8], x: &Activations<'_>, first: usize) -> [f32; N] {
    with_minima::<N, 144>(weights, x, first, |block, pair| q4_k_pair(block, pair))
}

#[target_feature(enable = "avx2,fma,f16c")]
fn q5_k<const N: usize>(weights: &[u8], x: &Activations<'_>, first: usize) -> [f32; N] {
    with_minima::<N, 176>(weights, x, first, |block, pair| q5_k_pair(block, pair))
}

/// Two groups of a Q4_K block, 0 to 15 each.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn q4_k_pair(block: &[u8; 144], pair: usize) -> [__m256i; 2] {
    let low = _mm256_set1_epi8(15);
    let bytes = load(part(block, 16 + pair * 32));
    [_mm256_and_si256(bytes, low), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low)]
}

/// Two groups of a Q5_K block, 0 to 31 each.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn q5_k_pair(block: &[u8; 176], pair: usize) -> [__m256i; 2] {
    let (low, fifth) = (_mm256_set1_epi8(15), _mm256_set1_epi8(16));
    let bytes = load(part(block, 48 + pair * 32));
    // The pair's two bits of the high byte, at bits 0 and 1.
    let high = _mm256_srl_epi16(load(part(block, 16)), _mm_cvtsi32_si128(2 * pair as i32));
    let even = _mm256_and_si256(_mm256_slli_epi16::<4>(high), fifth);
    let odd = _mm256_and_si256(_mm256_slli_epi16::<3>(high), fifth);
    let nibbles = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low);
    [_mm256_or_si256(_mm256_and_si256(bytes, low), even), _mm256_or_si256(nibbles, odd)]
}

/// The eight scales of a block as i16, twice; and its eight minima. They are packed in twelve bytes: `scale_and_minimum` says how.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn scales_and_minima(packed: &[u8; 12]) -> (__m256i, __m128i) {
    let word = |at: usize| u32::from_le_bytes([packed[at], packed[at + 1], packed[at + 2], packed[at + 3]]);
    let (a, b, c) = (word(0), word(4), word(8));
    let (six, four, two) = (0x3f3f_3f3f, 0x0f0f_0f0f, 0x0303_0303);
    let low = _mm_set_epi32(
        (c >> 4 & four | (b >> 6 & two) << 4).cast_signed(),
        (b & six).cast_signed(),
        (c & four | (a >> 6 & two) << 4).cast_signed(),
        (a & six).cast_signed(),
    );
    let all = _mm256_cvtepu8_epi16(low);
    (_mm256_broadcastsi128_si256(_mm256_castsi256_si128(all)), _mm256_extracti128_si256::<1>(all))
}

/// The scale of `group` in all places.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn scale_of(scales: __m256i, group: usize) -> __m256i {
    let pair = 2 * group as i16;
    _mm256_shuffle_epi8(scales, _mm256_set1_epi16(pair | (pair + 1) << 8))
}

/// Blocks of eight groups of 32 unsigned numbers with scales and minima; `unpack` gives a pair of groups.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn with_minima<const N: usize, const B: usize>(
    weights: &[u8],
    x: &Activations<'_>,
    first: usize,
    unpack: impl Fn(&[u8; B], usize) -> [__m256i; 2],
) -> [f32; N] {
    let mut sums = Sums::<N>::new();
    let (blocks, _) = weights.as_chunks::<B>();
    let rows = rows_of::<N>(x, first, blocks.len());
    for (i, block) in blocks.iter().enumerate() {
        let (scales, minima) = scales_and_minima(part(block, 4));
        let mut totals = [_mm256_setzero_si256(); N];
        for pair in 0..4 {
            let [even, odd] = unpack(block, pair);
            let (even_scale, odd_scale) = (scale_of(scales, 2 * pair), scale_of(scales, 2 * pair + 1));
            for n in 0..N {
                let [even_x, odd_x] = &rows[n][i].integers[pair];
                let a = _mm256_madd_epi16(even_scale, _mm256_maddubs_epi16(even, load_integers(even_x)));
                let b = _mm256_madd_epi16(odd_scale, _mm256_maddubs_epi16(odd, load_integers(odd_x)));
                totals[n] = _mm256_add_epi32(totals[n], _mm256_add_epi32(a, b));
            }
        }
        let (scale, minimum) = (half_at(block, 0), half_at(block, 2));
        for n in 0..N {
            sums.add(n, scale * rows[n][i].scale, totals[n]);
            sums.take_minima(n, minimum * rows[n][i].scale, minima, &rows[n][i].group_sums);
        }
    }
    sums.finish()
}

#[target_feature(enable = "avx2,fma,f16c")]
fn q6_k<const N: usize>(weights: &[u8], x: &Activations<'_>, first: usize) -> [f32; N] {
    let mut sums = Sums::<N>::new();
    let (blocks, _) = weights.as_chunks::<210>();
    let rows = rows_of::<N>(x, first, blocks.len());
    for (i, block) in blocks.iter().enumerate() {
        let group_scales = q6_k_scales(block);
        let mut totals = [_mm256_setzero_si256(); N];
        for group in 0..8 {
            let w = q6_k_group(block, group);
            let group_scale = q6_k_scale_of(group_scales, group);
            for n in 0..N {
                let x = &rows[n][i].integers[group / 2][group % 2];
                let products = _mm256_maddubs_epi16(w, load_integers(x));
                totals[n] = _mm256_add_epi32(totals[n], _mm256_madd_epi16(group_scale, products));
            }
        }
        let scale = half_at(block, 208);
        for n in 0..N {
            let total = _mm256_add_epi32(totals[n], q6_k_excess(group_scales, &rows[n][i].sums));
            sums.add(n, scale * rows[n][i].scale, total);
        }
    }
    sums.finish()
}

/// The sixteen scales of a block.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn q6_k_scales(block: &[u8; 210]) -> __m256i {
    _mm256_cvtepi8_epi16(load_half(part(block, 192)))
}

/// The two scales of a group, each in its half.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn q6_k_scale_of(scales: __m256i, group: usize) -> __m256i {
    let half = if group < 4 { _mm256_castsi256_si128(scales) } else { _mm256_extracti128_si256::<1>(scales) };
    let at = (group % 4 * 4) as i16;
    let low = _mm_set1_epi16(at | (at + 1) << 8);
    let high = _mm_set1_epi16((at + 2) | (at + 3) << 8);
    _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(half), _mm256_set_m128i(high, low))
}

/// The numbers are taken as 0 to 63: this is what goes off for the 32 that is too much.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn q6_k_excess(scales: __m256i, sums: &[i16; 16]) -> __m256i {
    let excess = _mm256_madd_epi16(scales, load_sums(sums));
    _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32::<5>(excess))
}

/// 32 numbers of a block, 0 to 63 each.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn q6_k_group(block: &[u8; 210], group: usize) -> __m256i {
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
