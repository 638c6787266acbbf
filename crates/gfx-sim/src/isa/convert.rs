//! Vector conversions.

use super::{Env, Row, f, lane};
use crate::number::{
    BF8, BF16, F16, FP8, Format, bf16_bits, bf16_to_f32, f16_bits, from_8_bits, nearest, round, to_8_bits,
};

fn float(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn to_f16(e: Env, a: u64) -> u64 {
    e.mode.put_f16(f64::from(e.mode.f32(a)), 0.0)
}

/// Towards zero, whatever MODE says.
fn to_f16_truncated(e: Env, a: u64) -> u64 {
    f16_bits(round(f64::from(e.mode.f32(a)), 0.0, 3, F16))
}

fn to_bf16(a: u64) -> u64 {
    bf16_bits(nearest(f64::from(float(a)), BF16))
}

fn to_8(e: Env, a: u64, format: Format) -> u64 {
    u64::from(to_8_bits(nearest(f64::from(float(a)), format), format, e.mode.saturates()))
}

/// Adds `random` below the last place and cuts, which rounds up as often as the cut part is large.
fn to_8_stochastic(e: Env, a: u64, random: u64, format: Format) -> u64 {
    let bits = if matches!(format.mantissa(), 3) { 20 } else { 21 };
    let noise = (random as u32) >> (32 - bits);
    let x = float(a);
    if !x.is_finite() {
        return to_8(e, a, format);
    }
    let moved = f32::from_bits((a as u32).wrapping_add(noise));
    u64::from(to_8_bits(round(f64::from(moved), 0.0, 3, format), format, e.mode.saturates()))
}

/// Towards zero, held within -1..1, times `scale`.
fn normalised(a: u64, low: f32, scale: f32) -> u64 {
    let x = float(a);
    let x = if x.is_nan() { 0.0 } else { x.clamp(low, 1.0) };
    u64::from((x * scale).round_ties_even() as i32 as u32 & 0xffff)
}

#[rustfmt::skip] // a table reads by columns
pub(super) const ROWS: &[Row] = &[
    lane("v_cvt_f32_i32", "f32: i32", "S0, rounded", |_, [a, ..]| f(a as i32 as f32), &[(&[0xffff_ffff], f(-1.0))]),
    lane("v_cvt_f32_u32", "f32: u32", "S0, rounded", |_, [a, ..]| f(a as u32 as f32), &[(&[0xffff_ffff], f(4_294_967_296.0))]),
    lane("v_cvt_i32_f32", "i32: f32", "S0 towards zero, held within the type; a NaN is 0", |_, [a, ..]| u64::from(float(a) as i32 as u32), &[(&[f(-1.5)], 0xffff_ffff), (&[f(1e10)], 0x7fff_ffff)]),
    lane("v_cvt_u32_f32", "u32: f32", "S0 towards zero, held within the type; a NaN is 0", |_, [a, ..]| u64::from(float(a) as u32), &[(&[f(-1.5)], 0), (&[f(1e10)], 0xffff_ffff)]),
    lane("v_cvt_nearest_i32_f32", "i32: f32", "floor(S0 + 0.5)", |_, [a, ..]| u64::from((f64::from(float(a)) + 0.5).floor() as i32 as u32), &[(&[f(1.5)], 2)]),
    lane("v_cvt_floor_i32_f32", "i32: f32", "floor(S0)", |_, [a, ..]| u64::from(float(a).floor() as i32 as u32), &[(&[f(-1.5)], 0xffff_fffe)]),
    lane("v_cvt_f32_ubyte0", "f32: u32", "byte 0 of S0", |_, [a, ..]| f((a & 255) as f32), &[(&[0x0403_0201], f(1.0))]),
    lane("v_cvt_f32_ubyte1", "f32: u32", "byte 1 of S0", |_, [a, ..]| f((a >> 8 & 255) as f32), &[(&[0x0403_0201], f(2.0))]),
    lane("v_cvt_f32_ubyte2", "f32: u32", "byte 2 of S0", |_, [a, ..]| f((a >> 16 & 255) as f32), &[(&[0x0403_0201], f(3.0))]),
    lane("v_cvt_f32_ubyte3", "f32: u32", "byte 3 of S0", |_, [a, ..]| f((a >> 24 & 255) as f32), &[(&[0x0403_0201], f(4.0))]),
    lane("v_cvt_f16_f32", "f16: f32", "S0, rounded", |e, [a, ..]| to_f16(e, a), &[(&[f(1.0)], 0x3c00), (&[f(65_520.0)], 0x7c00)]),
    lane("v_cvt_f32_f16", "f32: f16", "S0, exact", |e, [a, ..]| f(e.mode.f16(a) as f32), &[(&[0x3c00], f(1.0)), (&[1], f(5.960_464_5e-8))]),
    lane("v_cvt_f16_u16", "f16: u16", "S0, rounded", |e, [a, ..]| e.mode.put_f16(a as f64, 0.0), &[(&[2], 0x4000)]),
    lane("v_cvt_f16_i16", "f16: i16", "S0, rounded", |e, [a, ..]| e.mode.put_f16(f64::from(a as i16), 0.0), &[(&[0xffff], 0xbc00)]),
    lane("v_cvt_u16_f16", "u16: f16", "S0 towards zero, held within the type", |e, [a, ..]| u64::from(e.mode.f16(a) as u16), &[(&[0x4200], 3)]),
    lane("v_cvt_i16_f16", "i16: f16", "S0 towards zero, held within the type", |e, [a, ..]| u64::from(e.mode.f16(a) as i16 as u16), &[(&[0xbc00], 0xffff)]),
    lane("v_cvt_i32_i16", "i32: i16", "S0 with its sign", |_, [a, ..]| u64::from(i32::from(a as i16) as u32), &[(&[0xffff], 0xffff_ffff)]),
    lane("v_cvt_u32_u16", "u32: u16", "S0", |_, [a, ..]| a, &[(&[0xffff], 0xffff)]),
    lane("v_cvt_pkrtz_f16_f32", "u32: f32 f32", "both as f16, towards zero, packed", |e, [a, b, _]| to_f16_truncated(e, a) | to_f16_truncated(e, b) << 16, &[(&[f(1.0), f(65_536.0)], 0x7bff_3c00)]),
    lane("v_cvt_pk_u16_u32", "u32: u32 u32", "both held within 16 bits, packed", |_, [a, b, _]| a.min(0xffff) | b.min(0xffff) << 16, &[(&[1, 0x1_0000], 0xffff_0001)]),
    lane("v_cvt_pk_i16_i32", "u32: i32 i32", "both held within 16 bits, signed, packed", |_, [a, b, _]| { let h = |x: u64| u64::from((x as i32).clamp(-0x8000, 0x7fff) as u16); h(a) | h(b) << 16 }, &[(&[0xffff_ffff, 0x8000], 0x7fff_ffff)]),
    lane("v_cvt_pk_norm_i16_f32", "u32: f32 f32", "both times 32767, packed", |_, [a, b, _]| normalised(a, -1.0, 32_767.0) | normalised(b, -1.0, 32_767.0) << 16, &[(&[f(1.0), f(-1.0)], 0x8001_7fff)]),
    lane("v_cvt_pk_norm_u16_f32", "u32: f32 f32", "both times 65535, packed", |_, [a, b, _]| normalised(a, 0.0, 65_535.0) | normalised(b, 0.0, 65_535.0) << 16, &[(&[f(1.0), f(-1.0)], 0xffff)]),
    lane("v_cvt_pk_bf16_f32", "u32: f32 f32", "both as bf16, to nearest, packed", |_, [a, b, _]| to_bf16(a) | to_bf16(b) << 16, &[(&[f(1.0), f(-2.0)], 0xc000_3f80)]),
    lane("v_cvt_f32_bf16", "f32: u16", "S0, exact", |_, [a, ..]| f(bf16_to_f32(a as u32)), &[(&[0x3f80], f(1.0))]),
    lane("v_cvt_pk_fp8_f32", "u16: f32 f32", "both as fp8, packed", |e, [a, b, _]| to_8(e, a, FP8) | to_8(e, b, FP8) << 8, &[(&[f(1.0), f(448.0)], 0x7e38)]),
    lane("v_cvt_pk_bf8_f32", "u16: f32 f32", "both as bf8, packed", |e, [a, b, _]| to_8(e, a, BF8) | to_8(e, b, BF8) << 8, &[(&[f(1.0), f(57_344.0)], 0x7b3c)]),
    lane("v_cvt_sr_fp8_f32", "u8: f32 u32", "S0 as fp8, rounded up if S1 is large; into one byte", |e, [a, b, _]| to_8_stochastic(e, a, b, FP8), &[(&[f(1.0), 0], 0x38), (&[f(1.01), 0xffff_ffff], 0x39)]),
    lane("v_cvt_sr_bf8_f32", "u8: f32 u32", "S0 as bf8, rounded up if S1 is large; into one byte", |e, [a, b, _]| to_8_stochastic(e, a, b, BF8), &[(&[f(1.0), 0], 0x3c)]),
    lane("v_cvt_f32_fp8", "f32: u8", "a byte that is an fp8", |_, [a, ..]| f(from_8_bits(a as u32, FP8)), &[(&[0x38], f(1.0))]),
    lane("v_cvt_f32_bf8", "f32: u8", "a byte that is a bf8", |_, [a, ..]| f(from_8_bits(a as u32, BF8)), &[(&[0x3c], f(1.0))]),
    lane("v_cvt_pk_f32_fp8", "u64: u16", "two fp8", |_, [a, ..]| f(from_8_bits(a as u32 & 255, FP8)) | f(from_8_bits(a as u32 >> 8, FP8)) << 32, &[(&[0x7e38], f(448.0) << 32 | f(1.0))]),
    lane("v_cvt_pk_f32_bf8", "u64: u16", "two bf8", |_, [a, ..]| f(from_8_bits(a as u32 & 255, BF8)) | f(from_8_bits(a as u32 >> 8, BF8)) << 32, &[(&[0x7b3c], f(57_344.0) << 32 | f(1.0))]),
];
