//! Vector arithmetic in single precision.

use super::{Env, Row, d, f, lane, masked};
use crate::number::two_sum;

/// `a * b + c` with one rounding.
pub(super) fn fma(e: Env, a: u64, b: u64, c: u64) -> u64 {
    let (a, b, c) = (e.mode.f32(a), e.mode.f32(b), e.mode.f32(c));
    if e.mode.round_32() == 0 {
        return e.mode.put(a.mul_add(b, c));
    }
    // The product of two f32 is exact in f64.
    let (sum, rest) = two_sum(f64::from(a) * f64::from(b), f64::from(c));
    e.mode.put_exact(sum, rest)
}

fn add(e: Env, a: u64, b: u64) -> u64 {
    let (a, b) = (e.mode.f32(a), e.mode.f32(b));
    if e.mode.round_32() == 0 {
        return e.mode.put(a + b);
    }
    let (sum, rest) = two_sum(f64::from(a), f64::from(b));
    e.mode.put_exact(sum, rest)
}

const SIGN: u64 = 0x8000_0000;

fn mul(e: Env, a: u64, b: u64) -> u64 {
    let (a, b) = (e.mode.f32(a), e.mode.f32(b));
    if e.mode.round_32() == 0 {
        return e.mode.put(a * b);
    }
    e.mode.put_exact(f64::from(a) * f64::from(b), 0.0)
}

/// A NaN gives the other operand; -0 is below +0.
fn max(a: f32, b: f32) -> f32 {
    if a == b { if a.is_sign_negative() { b } else { a } } else { a.max(b) }
}

fn min(a: f32, b: f32) -> f32 {
    if a == b { if a.is_sign_negative() { a } else { b } } else { a.min(b) }
}

fn med3(a: f32, b: f32, c: f32) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return min(min(a, b), c);
    }
    let top = max(max(a, b), c);
    if top == a {
        max(b, c)
    } else if top == b {
        max(a, c)
    } else {
        max(a, b)
    }
}

fn of3(e: Env, [a, b, c]: [u64; 3], f: fn(f32, f32, f32) -> f32) -> u64 {
    e.mode.put(f(e.mode.f32(a), e.mode.f32(b), e.mode.f32(c)))
}

fn of2(e: Env, a: u64, b: u64, f: fn(f32, f32) -> f32) -> u64 {
    e.mode.put(f(e.mode.f32(a), e.mode.f32(b)))
}

/// The exponent field.
fn exponent(x: f32) -> i32 {
    (x.to_bits() >> 23 & 0xff) as i32
}

fn ldexp(x: f32, by: i32) -> f32 {
    crate::number::nearest(f64::from(x) * 2f64.powi(by.clamp(-400, 400)), crate::number::F32) as f32
}

/// Scales the numerator or denominator of a division so that the steps between cannot leave the format (ISA, V_DIV_SCALE_F32): S0 is whichever
/// of S1 (denominator) and S2 (numerator) is to be scaled.
fn div_scale(_: Env, [s0, s1, s2]: [u64; 3]) -> (u64, bool) {
    let (x, denominator, numerator) =
        (f32::from_bits(s0 as u32), f32::from_bits(s1 as u32), f32::from_bits(s2 as u32));
    let bits = |x: f32| u64::from(x.to_bits());
    let scaled = |when: bool, by: i32| if when { bits(ldexp(x, by)) } else { s0 };
    let (is_denominator, is_numerator) = (s0 == s1, s0 == s2);
    let reciprocal = 1.0 / f64::from(denominator);
    let quotient = f64::from(numerator) / f64::from(denominator);
    let is_denormal = |x: f64| x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE);
    if numerator == 0.0 || denominator == 0.0 {
        (bits(f32::NAN), false)
    } else if exponent(numerator) - exponent(denominator) >= 96 {
        (scaled(is_denominator, 64), true)
    } else if denominator.is_subnormal() {
        (scaled(true, 64), false)
    } else if is_denormal(reciprocal) && is_denormal(quotient) {
        (scaled(is_denominator, 64), true)
    } else if is_denormal(reciprocal) {
        (scaled(true, -64), false)
    } else if is_denormal(quotient) {
        (scaled(is_numerator, 64), true)
    } else {
        (scaled(exponent(numerator) <= 23, 64), false)
    }
}

/// The quotient S0 of S2 / S1, mended where an operand is special (ISA, V_DIV_FIXUP_F32).
fn div_fixup(e: Env, [q, s1, s2]: [u64; 3]) -> u64 {
    let (denominator, numerator) = (e.mode.f32(s1), e.mode.f32(s2));
    let sign = (s1 ^ s2) & SIGN;
    if numerator.is_nan() {
        s2 | 0x40_0000
    } else if denominator.is_nan() {
        s1 | 0x40_0000
    } else if denominator == 0.0 && numerator == 0.0 || denominator.is_infinite() && numerator.is_infinite() {
        0xffc0_0000
    } else if denominator == 0.0 || numerator.is_infinite() {
        sign | 0x7f80_0000
    } else if denominator.is_infinite()
        || numerator == 0.0
        || exponent(numerator) - exponent(denominator) < -150
    {
        sign // zero, or below the format
    } else if exponent(denominator) == 255 {
        sign | 0x7f80_0000
    } else {
        sign | q & !SIGN
    }
}

/// S0 * S1 + S2, scaled back where VCC says that V_DIV_SCALE_F32 has scaled.
fn div_fmas(e: Env, [a, b, c]: [u64; 3]) -> u64 {
    if !e.vcc {
        return fma(e, a, b, c);
    }
    let exact = e.mode.f32(a).mul_add(e.mode.f32(b), e.mode.f32(c));
    let by = if exponent(f32::from_bits(c as u32)) > 127 { 64 } else { -64 };
    e.mode.put(ldexp(exact, by))
}

#[rustfmt::skip] // a table reads by columns
pub(super) const ROWS: &[Row] = &[
    lane("v_add_f32", "f32: f32 f32", "S0 + S1", |e, [a, b, _]| add(e, a, b), &[(&[f(1.5), f(-2.0)], f(-0.5))]),
    lane("v_sub_f32", "f32: f32 f32", "S0 - S1", |e, [a, b, _]| add(e, a, b ^ SIGN), &[(&[f(1.5), f(2.0)], f(-0.5))]),
    lane("v_subrev_f32", "f32: f32 f32", "S1 - S0", |e, [a, b, _]| add(e, b, a ^ SIGN), &[(&[f(1.5), f(2.0)], f(0.5))]),
    lane("v_mul_f32", "f32: f32 f32", "S0 * S1", |e, [a, b, _]| mul(e, a, b), &[(&[f(1.5), f(-2.0)], f(-3.0))]),
    lane("v_mul_dx9_zero_f32", "f32: f32 f32", "S0 * S1, and zero times anything is zero", |e, [a, b, _]| if e.mode.f32(a) == 0.0 || e.mode.f32(b) == 0.0 { 0 } else { mul(e, a, b) }, &[(&[f(0.0), f(f32::INFINITY)], 0)]),
    lane("v_fma_f32", "f32: f32 f32 f32", "S0 * S1 + S2, one rounding", |e, [a, b, c]| fma(e, a, b, c), &[(&[f(1.5), f(2.0), f(1.0)], f(4.0))]),
    lane("v_fmac_f32", "f32: f32 f32 d", "S0 * S1 + D, one rounding", |e, [a, b, c]| fma(e, a, b, c), &[(&[f(1.5), f(2.0), f(1.0)], f(4.0))]),
    lane("v_fmaak_f32", "f32: f32 f32 f32", "S0 * S1 + K, one rounding", |e, [a, b, c]| fma(e, a, b, c), &[(&[f(1.5), f(2.0), f(1.0)], f(4.0))]),
    lane("v_fmamk_f32", "f32: f32 f32 f32", "S0 * K + S1, one rounding", |e, [a, b, c]| fma(e, a, b, c), &[(&[f(1.5), f(2.0), f(1.0)], f(4.0))]),
    lane("v_max_f32", "f32: f32 f32", "the larger; a NaN gives the other", |e, [a, b, _]| of2(e, a, b, max), &[(&[f(f32::NAN), f(-2.0)], f(-2.0)), (&[f(-0.0), f(0.0)], 0)]),
    lane("v_min_f32", "f32: f32 f32", "the smaller; a NaN gives the other", |e, [a, b, _]| of2(e, a, b, min), &[(&[f(1.0), f(-2.0)], f(-2.0))]),
    lane("v_max3_f32", "f32: f32 f32 f32", "the largest", |e, s| of3(e, s, |a, b, c| max(max(a, b), c)), &[(&[f(1.0), f(3.0), f(2.0)], f(3.0))]),
    lane("v_min3_f32", "f32: f32 f32 f32", "the smallest", |e, s| of3(e, s, |a, b, c| min(min(a, b), c)), &[(&[f(1.0), f(3.0), f(2.0)], f(1.0))]),
    lane("v_med3_f32", "f32: f32 f32 f32", "the middle one; of a NaN, the smallest", |e, s| of3(e, s, med3), &[(&[f(1.0), f(3.0), f(2.0)], f(2.0))]),
    lane("v_maxmin_f32", "f32: f32 f32 f32", "min(max(S0, S1), S2)", |e, s| of3(e, s, |a, b, c| min(max(a, b), c)), &[(&[f(1.0), f(3.0), f(2.0)], f(2.0))]),
    lane("v_minmax_f32", "f32: f32 f32 f32", "max(min(S0, S1), S2)", |e, s| of3(e, s, |a, b, c| max(min(a, b), c)), &[(&[f(1.0), f(3.0), f(2.0)], f(2.0))]),
    lane("v_floor_f32", "f32: f32", "to the whole number below", |e, [a, ..]| e.mode.put(e.mode.f32(a).floor()), &[(&[f(-1.5)], f(-2.0))]),
    lane("v_ceil_f32", "f32: f32", "to the whole number above", |e, [a, ..]| e.mode.put(e.mode.f32(a).ceil()), &[(&[f(-1.5)], f(-1.0))]),
    lane("v_trunc_f32", "f32: f32", "to the whole number towards zero", |e, [a, ..]| e.mode.put(e.mode.f32(a).trunc()), &[(&[f(-1.5)], f(-1.0))]),
    lane("v_rndne_f32", "f32: f32", "to the nearest whole number, ties to even", |e, [a, ..]| e.mode.put(e.mode.f32(a).round_ties_even()), &[(&[f(2.5)], f(2.0)), (&[f(3.5)], f(4.0))]),
    lane("v_fract_f32", "f32: f32", "S0 - floor(S0)", |e, [a, ..]| { let x = e.mode.f32(a); e.mode.put((x - x.floor()).min(1.0 - f32::EPSILON / 2.0)) }, &[(&[f(-1.25)], f(0.75))]),
    lane("v_ldexp_f32", "f32: f32 i32", "S0 * 2^S1", |e, [a, b, _]| e.mode.put(ldexp(e.mode.f32(a), b as i32)), &[(&[f(1.5), 3], f(12.0)), (&[f(1.5), 0xffff_ffff], f(0.75))]),
    lane("v_frexp_mant_f32", "f32: f32", "the mantissa in [0.5, 1)", |e, [a, ..]| { let x = e.mode.f32(a); if x == 0.0 || !x.is_finite() { a } else { let n = f64::from(x); let k = ((n.to_bits() >> 52 & 0x7ff) as i32) - 1022; e.mode.put((n * 2f64.powi(-k)) as f32) } }, &[(&[f(12.0)], f(0.75))]),
    lane("v_frexp_exp_i32_f32", "i32: f32", "the exponent that goes with v_frexp_mant_f32", |e, [a, ..]| { let x = f64::from(e.mode.f32(a)); if x == 0.0 || !x.is_finite() { 0 } else { u64::from(((x.to_bits() >> 52 & 0x7ff) as i32 - 1022) as u32) } }, &[(&[f(12.0)], 4)]),
    lane("v_div_fixup_f32", "f32: f32 f32 f32", "the quotient S0 of S2 / S1, mended where they are special", div_fixup, &[(&[f(9.0), f(0.0), f(-1.0)], f(f32::NEG_INFINITY)), (&[f(1.5), f(2.0), f(3.0)], f(1.5))]),
    lane("v_div_fmas_f32", "f32: f32 f32 f32 vcc", "S0 * S1 + S2, scaled by 2^64 or 2^-64 where VCC says", div_fmas, &[(&[f(1.5), f(2.0), f(1.0)], f(4.0))]),
    masked("v_div_scale_f32", "f32+m: f32 f32 f32", "S0, scaled by 2^64 or 2^-64 if the division S2 / S1 needs it; the mask says so to v_div_fmas_f32", div_scale, &[(&[f(3.0), f(3.0), f(1.0)], f(3.0)), (&[f(1e-38), f(1e-38), f(1.0)], f(1e-38 * 18_446_744_073_709_551_616.0))]),
    lane("v_cvt_f64_f32", "f64: f32", "S0, exact", |e, [a, ..]| e.mode.put_f64(f64::from(e.mode.f32(a))), &[(&[f(1.5)], d(1.5))]),
];
