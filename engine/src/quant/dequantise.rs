//! Stored numbers to f32: the definition of every type, one block at a time. Layouts: ggml-common.h of the ggml project.

use crate::gguf::TensorType;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

/// What the nibbles of IQ4_NL stand for.
pub(super) const IQ4_NL: [i8; 16] =
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// Writes the numbers of `bytes`, whole blocks of `kind`, to `out`.
///
/// # Panics
/// When `out` has another length than `bytes` has numbers.
pub fn dequantise(kind: TensorType, bytes: &[u8], out: &mut [f32]) {
    let (numbers, size) = kind.block();
    assert_eq!(bytes.len() / size * numbers, out.len(), "as many numbers as there are in the blocks");
    let block = match kind {
        TensorType::F32 => return floats::<4>(bytes, out, f32::from_le_bytes),
        TensorType::BF16 => return floats::<2>(bytes, out, |bytes| bf16::from_le_bytes(bytes).to_f32()),
        TensorType::F16 => return halves(bytes, out),
        TensorType::Q8_0 => q8_0,
        TensorType::Q4_0 => q4_0,
        TensorType::IQ4_NL => iq4_nl,
        TensorType::Q4_K => q4_k,
        TensorType::Q5_K => q5_k,
        TensorType::Q6_K => q6_k,
    };
    for (block_bytes, numbers) in bytes.chunks_exact(size).zip(out.chunks_exact_mut(numbers)) {
        block(block_bytes, numbers);
    }
}

fn floats<const B: usize>(bytes: &[u8], out: &mut [f32], number: impl Fn([u8; B]) -> f32) {
    let (numbers, _) = bytes.as_chunks::<B>();
    numbers.iter().zip(out).for_each(|(bytes, out)| *out = number(*bytes));
}

/// By instructions of the processor where it has them.
fn halves(bytes: &[u8], out: &mut [f32]) {
    for (bytes, out) in bytes.as_chunks::<2>().0.chunks(64).zip(out.chunks_mut(64)) {
        let mut halves = [f16::ZERO; 64];
        halves.iter_mut().zip(bytes).for_each(|(half, bytes)| *half = f16::from_le_bytes(*bytes));
        halves[..out.len()].convert_to_f32_slice(out);
    }
}

#[inline]
pub(super) fn half_at(bytes: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f32()
}

fn q8_0(bytes: &[u8], out: &mut [f32]) {
    let scale = half_at(bytes, 0);
    for (number, byte) in out.iter_mut().zip(&bytes[2..]) {
        *number = scale * f32::from(byte.cast_signed());
    }
}

/// The low nibbles are the first sixteen numbers, the high nibbles the others.
#[inline(always)]
pub(super) fn nibbles<T>(bytes: &[u8], out: &mut [T], value: impl Fn(u8) -> T) {
    for (i, byte) in bytes.iter().enumerate() {
        out[i] = value(byte & 15);
        out[i + bytes.len()] = value(byte >> 4);
    }
}

fn q4_0(bytes: &[u8], out: &mut [f32]) {
    let scale = half_at(bytes, 0);
    nibbles(&bytes[2..], out, |nibble| scale * (f32::from(nibble) - 8.0));
}

fn iq4_nl(bytes: &[u8], out: &mut [f32]) {
    let scale = half_at(bytes, 0);
    nibbles(&bytes[2..], out, |nibble| scale * f32::from(IQ4_NL[usize::from(nibble)]));
}

/// The scale and the minimum, 6 bits each, of one of the eight groups of a Q4_K or Q5_K block.
#[inline]
pub(super) fn scale_and_minimum(packed: &[u8], group: usize) -> (u8, u8) {
    if group < 4 {
        (packed[group] & 63, packed[group + 4] & 63)
    } else {
        let low = packed[group + 4];
        (low & 15 | packed[group - 4] >> 6 << 4, low >> 4 | packed[group] >> 6 << 4)
    }
}

fn q4_k(bytes: &[u8], out: &mut [f32]) {
    let (scales, numbers) = (&bytes[4..16], &bytes[16..]);
    k_groups(bytes, scales, numbers, out, |_, _| 0);
}

fn q5_k(bytes: &[u8], out: &mut [f32]) {
    let (scales, high, numbers) = (&bytes[4..16], &bytes[16..48], &bytes[48..]);
    k_groups(bytes, scales, numbers, out, |group, i| (high[i] >> group & 1) << 4);
}

/// Eight groups of 32; two share 32 bytes, the first in the low nibbles. `high` gives the bits above the nibble.
fn k_groups(head: &[u8], scales: &[u8], numbers: &[u8], out: &mut [f32], high: impl Fn(usize, usize) -> u8) {
    let (scale, minimum) = (half_at(head, 0), half_at(head, 2));
    for (group, out) in out.chunks_exact_mut(32).enumerate() {
        let (group_scale, group_minimum) = scale_and_minimum(scales, group);
        let (d, m) = (scale * f32::from(group_scale), minimum * f32::from(group_minimum));
        let bytes = &numbers[group / 2 * 32..][..32];
        for (i, number) in out.iter_mut().enumerate() {
            let nibble = if group % 2 == 0 { bytes[i] & 15 } else { bytes[i] >> 4 };
            *number = d * f32::from(nibble | high(group, i)) - m;
        }
    }
}

fn q6_k(bytes: &[u8], out: &mut [f32]) {
    let scale = half_at(bytes, 208);
    for (i, number) in out.iter_mut().enumerate() {
        let (half, group, at) = (i / 128, i % 128 / 32, i % 32);
        let low = bytes[half * 64 + group % 2 * 32 + at];
        let nibble = if group < 2 { low & 15 } else { low >> 4 };
        let high = bytes[128 + half * 32 + at] >> (2 * group) & 3;
        let group_scale = bytes[192 + i / 16].cast_signed();
        *number = scale * f32::from(group_scale) * (f32::from(nibble | high << 4) - 32.0);
    }
}
