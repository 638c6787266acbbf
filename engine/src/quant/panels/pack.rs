//! Rows of weights to panels. Compiled for AVX2, which the compiler makes vectors of.

#![allow(unsafe_code)] // a store through a reference; the callers check the processor

use super::Shape;
use crate::gguf::TensorType;
use crate::quant::avx2::{iq4_nl, part};
use crate::quant::dequantise::{dequantise, half_at, nibbles, scale_and_minimum};
use std::arch::x86_64::{_mm256_set1_epi8, _mm256_storeu_si256, _mm256_xor_si256};

/// `R` rows side by side.
#[derive(Debug, Default)]
pub(super) struct Panel<const R: usize> {
    /// Floats, column by column: of float types alone.
    pub(super) floats: Vec<[f32; R]>,
    /// Four bytes each.
    pub(super) bytes: Vec<[[u8; 4]; R]>,
    /// A scale a group.
    pub(super) scales: Vec<[f32; R]>,
    /// A minimum a group, where the type has them.
    pub(super) minima: Vec<[f32; R]>,
}

/// Columns that are unpacked before the next row's turn: what is written stays in the nearest cache.
const COLUMNS: usize = 256;

/// 256 numbers of a row, unpacked.
struct Piece {
    bytes: [u8; COLUMNS],
    scales: [f32; 16],
    minima: [f32; 8],
}

impl<const R: usize> Panel<R> {
    /// Unpacks rows of `columns` numbers.
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) fn new(kind: TensorType, bytes: &[u8], columns: usize) -> Self {
        match Shape::of(kind) {
            None => Self::of_floats(kind, bytes, columns),
            Some(shape) => Self::of_integers(kind, shape, bytes, columns),
        }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    fn of_floats(kind: TensorType, bytes: &[u8], columns: usize) -> Self {
        let mut floats = vec![[0.0; R]; columns];
        let mut row_floats = [0.0; COLUMNS];
        for first in (0..columns).step_by(COLUMNS) {
            let part = &mut row_floats[..COLUMNS.min(columns - first)];
            for (row, bytes) in bytes.chunks_exact(kind.row_bytes(columns)).enumerate() {
                dequantise(kind, &bytes[kind.row_bytes(first)..][..kind.row_bytes(part.len())], part);
                floats[first..].iter_mut().zip(&*part).for_each(|(column, x)| column[row] = *x);
            }
        }
        Self { floats, ..Self::default() }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    fn of_integers(kind: TensorType, shape: Shape, bytes: &[u8], columns: usize) -> Self {
        let groups = columns / shape.group;
        let mut panel = Self {
            floats: Vec::new(),
            bytes: vec![[[0; 4]; R]; columns / 4],
            scales: vec![[0.0; R]; groups],
            minima: vec![[0.0; R]; if shape.has_minima { groups } else { 0 }],
        };
        let mut piece = Piece { bytes: [0; COLUMNS], scales: [0.0; 16], minima: [0.0; 8] };
        for first in (0..columns).step_by(COLUMNS) {
            let count = COLUMNS.min(columns - first);
            for (row, bytes) in bytes.chunks_exact(kind.row_bytes(columns)).enumerate() {
                piece.unpack(kind, &bytes[kind.row_bytes(first)..][..kind.row_bytes(count)]);
                let fours = piece.bytes[..count].as_chunks::<4>().0;
                panel.bytes[first / 4..].iter_mut().zip(fours).for_each(|(to, four)| to[row] = *four);
                let (group, count) = (first / shape.group, count / shape.group);
                let scales = panel.scales[group..].iter_mut().zip(&piece.scales[..count]);
                scales.for_each(|(to, scale)| to[row] = *scale);
                if shape.has_minima {
                    let minima = panel.minima[group..].iter_mut().zip(&piece.minima[..count]);
                    minima.for_each(|(to, minimum)| to[row] = *minimum);
                }
            }
        }
        panel
    }
}

impl Piece {
    #[target_feature(enable = "avx2,fma,f16c")]
    fn unpack(&mut self, kind: TensorType, bytes: &[u8]) {
        match kind {
            TensorType::Q8_0 => self.blocks_32::<34>(bytes, |from, to| {
                to.iter_mut().zip(from).for_each(|(to, byte)| *to = byte ^ 0x80);
            }),
            TensorType::Q4_0 => self.blocks_32::<18>(bytes, |from, to| nibbles(from, to, |nibble| nibble)),
            TensorType::IQ4_NL => self.blocks_32::<18>(bytes, |from, to| *to = of_table(part(from, 0))),
            TensorType::Q4_K => self.k_block(bytes, &bytes[16..], None),
            TensorType::Q5_K => self.k_block(bytes, &bytes[48..], Some(&bytes[16..48])),
            TensorType::Q6_K => self.q6_k(bytes),
            TensorType::F32 | TensorType::F16 | TensorType::BF16 => {}
        }
    }

    /// Blocks of `B` bytes: an f16 scale, and what `unpack` makes 32 bytes.
    #[target_feature(enable = "avx2,fma,f16c")]
    fn blocks_32<const B: usize>(&mut self, bytes: &[u8], unpack: impl Fn(&[u8], &mut [u8; 32])) {
        let blocks = bytes.as_chunks::<B>().0.iter().zip(self.bytes.as_chunks_mut::<32>().0);
        for ((block, to), scale) in blocks.zip(&mut self.scales) {
            *scale = half_at(block, 0);
            unpack(&block[2..], to);
        }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    fn k_block(&mut self, block: &[u8], numbers: &[u8], high: Option<&[u8]>) {
        let (scale, minimum) = (half_at(block, 0), half_at(block, 2));
        for group in 0..8 {
            let (group_scale, group_minimum) = scale_and_minimum(&block[4..16], group);
            self.scales[group] = scale * f32::from(group_scale);
            self.minima[group] = minimum * f32::from(group_minimum);
        }
        let pairs = self.bytes.as_chunks_mut::<64>().0.iter_mut().zip(numbers.as_chunks::<32>().0);
        for (pair, (to, from)) in pairs.enumerate() {
            nibbles(from, to, |nibble| nibble);
            for (i, high) in high.unwrap_or_default().iter().enumerate() {
                to[i] |= (high >> (2 * pair) & 1) << 4;
                to[i + 32] |= (high >> (2 * pair + 1) & 1) << 4;
            }
        }
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    fn q6_k(&mut self, block: &[u8]) {
        let scale = half_at(block, 208);
        for (to, group_scale) in self.scales.iter_mut().zip(&block[192..208]) {
            *to = scale * f32::from(group_scale.cast_signed());
        }
        for (group, to) in self.bytes.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            let (half, quarter) = (group / 4, group % 4);
            let low = &block[half * 64 + quarter % 2 * 32..][..32];
            let high = &block[128 + half * 32..][..32];
            for (to, (low, high)) in to.iter_mut().zip(low.iter().zip(high)) {
                *to = (low >> (quarter / 2 * 4) & 15) | (high >> (2 * quarter) & 3) << 4;
            }
        }
    }
}

/// The numbers of an IQ4_NL block, without a sign.
#[target_feature(enable = "avx2")]
#[inline]
fn of_table(bytes: &[u8; 16]) -> [u8; 32] {
    let mut out = [0; 32];
    let numbers = _mm256_xor_si256(iq4_nl(bytes), _mm256_set1_epi8(-128));
    // SAFETY: an unaligned store of 32 bytes to the 32 bytes of `out`.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), numbers) };
    out
}
