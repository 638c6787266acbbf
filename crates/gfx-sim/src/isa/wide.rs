//! Vector arithmetic in double precision.

use super::{Env, Row, d, lane, masked};

const SIGN: u64 = 1 << 63;

fn exponent(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32
}

fn ldexp(x: f64, by: i32) -> f64 {
    // In steps, so that no factor leaves the format before the result does.
    let (half, rest) = (by / 2, by - by / 2);
    x * 2f64.powi(half.clamp(-1000, 1000)) * 2f64.powi(rest.clamp(-1000, 1000))
}

/// As V_DIV_SCALE_F32, with 2^128.
fn div_scale(_: Env, [s0, s1, s2]: [u64; 3]) -> (u64, bool) {
    let (x, denominator, numerator) = (f64::from_bits(s0), f64::from_bits(s1), f64::from_bits(s2));
    let scaled = |when: bool, by: i32| if when { ldexp(x, by).to_bits() } else { s0 };
    let (is_denominator, is_numerator) = (s0 == s1, s0 == s2);
    let (reciprocal, quotient) = (1.0 / denominator, numerator / denominator);
    if numerator == 0.0 || denominator == 0.0 {
        (f64::NAN.to_bits(), false)
    } else if exponent(numerator) - exponent(denominator) >= 768 {
        (scaled(is_denominator, 128), true)
    } else if denominator.is_subnormal() {
        (scaled(true, 128), false)
    } else if reciprocal.is_subnormal() && quotient.is_subnormal() {
        (scaled(is_denominator, 128), true)
    } else if reciprocal.is_subnormal() {
        (scaled(true, -128), false)
    } else if quotient.is_subnormal() {
        (scaled(is_numerator, 128), true)
    } else {
        (scaled(exponent(numerator) <= 53, 128), false)
    }
}

fn div_fixup(e: Env, [q, s1, s2]: [u64; 3]) -> u64 {
    let (denominator, numerator) = (e.mode.f64(s1), e.mode.f64(s2));
    let sign = (s1 ^ s2) & SIGN;
    let infinity = f64::INFINITY.to_bits();
    if numerator.is_nan() {
        s2 | 1 << 51
    } else if denominator.is_nan() {
        s1 | 1 << 51
    } else if denominator == 0.0 && numerator == 0.0 || denominator.is_infinite() && numerator.is_infinite() {
        SIGN | f64::NAN.to_bits()
    } else if denominator == 0.0 || numerator.is_infinite() {
        sign | infinity
    } else if denominator.is_infinite()
        || numerator == 0.0
        || exponent(numerator) - exponent(denominator) < -1075
    {
        sign
    } else {
        sign | q & !SIGN
    }
}

/// S0 * S1 + S2, scaled back where VCC says that V_DIV_SCALE_F64 has scaled.
fn div_fmas(e: Env, [a, b, c]: [u64; 3]) -> u64 {
    let exact = e.mode.f64(a).mul_add(e.mode.f64(b), e.mode.f64(c));
    let by = if exponent(f64::from_bits(c)) > 1023 { 128 } else { -128 };
    e.mode.put_f64(if e.vcc { ldexp(exact, by) } else { exact })
}

#[rustfmt::skip] // a table reads by columns
pub(super) const ROWS: &[Row] = &[
    lane("v_add_f64", "f64: f64 f64", "S0 + S1", |e, [a, b, _]| e.mode.put_f64(e.mode.f64(a) + e.mode.f64(b)), &[(&[d(1.5), d(-2.0)], d(-0.5))]),
    lane("v_mul_f64", "f64: f64 f64", "S0 * S1", |e, [a, b, _]| e.mode.put_f64(e.mode.f64(a) * e.mode.f64(b)), &[(&[d(1.5), d(-2.0)], d(-3.0))]),
    lane("v_fma_f64", "f64: f64 f64 f64", "S0 * S1 + S2, one rounding", |e, [a, b, c]| e.mode.put_f64(e.mode.f64(a).mul_add(e.mode.f64(b), e.mode.f64(c))), &[(&[d(1.5), d(2.0), d(1.0)], d(4.0))]),
    lane("v_max_f64", "f64: f64 f64", "the larger; a NaN gives the other", |e, [a, b, _]| e.mode.put_f64(e.mode.f64(a).max(e.mode.f64(b))), &[(&[d(1.0), d(2.0)], d(2.0))]),
    lane("v_min_f64", "f64: f64 f64", "the smaller; a NaN gives the other", |e, [a, b, _]| e.mode.put_f64(e.mode.f64(a).min(e.mode.f64(b))), &[(&[d(1.0), d(2.0)], d(1.0))]),
    lane("v_rcp_f64", "f64: f64", "1 / S0 (hardware: 24 bits)", |e, [a, ..]| e.mode.put_f64(1.0 / e.mode.f64(a)), &[(&[d(4.0)], d(0.25))]),
    lane("v_rsq_f64", "f64: f64", "1 / sqrt(S0) (hardware: 24 bits)", |e, [a, ..]| e.mode.put_f64(1.0 / e.mode.f64(a).sqrt()), &[(&[d(4.0)], d(0.5))]),
    lane("v_sqrt_f64", "f64: f64", "sqrt(S0) (hardware: 24 bits)", |e, [a, ..]| e.mode.put_f64(e.mode.f64(a).sqrt()), &[(&[d(4.0)], d(2.0))]),
    lane("v_floor_f64", "f64: f64", "to the whole number below", |e, [a, ..]| e.mode.put_f64(e.mode.f64(a).floor()), &[(&[d(-1.5)], d(-2.0))]),
    lane("v_ceil_f64", "f64: f64", "to the whole number above", |e, [a, ..]| e.mode.put_f64(e.mode.f64(a).ceil()), &[(&[d(-1.5)], d(-1.0))]),
    lane("v_trunc_f64", "f64: f64", "to the whole number towards zero", |e, [a, ..]| e.mode.put_f64(e.mode.f64(a).trunc()), &[(&[d(-1.5)], d(-1.0))]),
    lane("v_rndne_f64", "f64: f64", "to the nearest whole number, ties to even", |e, [a, ..]| e.mode.put_f64(e.mode.f64(a).round_ties_even()), &[(&[d(2.5)], d(2.0))]),
    lane("v_fract_f64", "f64: f64", "S0 - floor(S0)", |e, [a, ..]| { let x = e.mode.f64(a); e.mode.put_f64(x - x.floor()) }, &[(&[d(-1.25)], d(0.75))]),
    lane("v_ldexp_f64", "f64: f64 i32", "S0 * 2^S1", |e, [a, b, _]| e.mode.put_f64(ldexp(e.mode.f64(a), b as i32)), &[(&[d(1.5), 3], d(12.0))]),
    lane("v_div_fixup_f64", "f64: f64 f64 f64", "the quotient S0 of S2 / S1, mended where they are special", div_fixup, &[(&[d(9.0), d(0.0), d(1.0)], d(f64::INFINITY)), (&[d(1.5), d(2.0), d(3.0)], d(1.5))]),
    lane("v_div_fmas_f64", "f64: f64 f64 f64 vcc", "S0 * S1 + S2, scaled by 2^128 or 2^-128 where VCC says", div_fmas, &[(&[d(1.5), d(2.0), d(1.0)], d(4.0))]),
    masked("v_div_scale_f64", "f64+m: f64 f64 f64", "S0, scaled by 2^128 or 2^-128 if the division S2 / S1 needs it; the mask says so to v_div_fmas_f64", div_scale, &[(&[d(3.0), d(3.0), d(1.0)], d(3.0))]),
    lane("v_cvt_f32_f64", "f32: f64", "S0, rounded", |e, [a, ..]| e.mode.put(crate::number::round(e.mode.f64(a), 0.0, e.mode.round_32(), crate::number::F32) as f32), &[(&[d(1.5)], super::f(1.5))]),
    lane("v_cvt_f64_i32", "f64: i32", "S0, exact", |_, [a, ..]| f64::from(a as i32).to_bits(), &[(&[0xffff_ffff], d(-1.0))]),
    lane("v_cvt_f64_u32", "f64: u32", "S0, exact", |_, [a, ..]| f64::from(a as u32).to_bits(), &[(&[0xffff_ffff], d(4_294_967_295.0))]),
    lane("v_cvt_i32_f64", "i32: f64", "S0 towards zero, held within the type; a NaN is 0", |e, [a, ..]| u64::from(e.mode.f64(a) as i32 as u32), &[(&[d(-1.5)], 0xffff_ffff)]),
    lane("v_cvt_u32_f64", "u32: f64", "S0 towards zero, held within the type; a NaN is 0", |e, [a, ..]| u64::from(e.mode.f64(a) as u32), &[(&[d(-1.5)], 0)]),
];
