//! Vector arithmetic in half precision.

use super::{Env, Row, lane};
use crate::number::two_sum;

const SIGN: u64 = 0x8000;
const ONE: u64 = 0x3c00;
const TWO: u64 = 0x4000;
const THREE: u64 = 0x4200;

/// `a * b + c` with one rounding: the product of two halves is exact in f64.
pub(super) fn fma(e: Env, a: u64, b: u64, c: u64) -> u64 {
    let (sum, rest) = two_sum(e.mode.f16(a) * e.mode.f16(b), e.mode.f16(c));
    e.mode.put_f16(sum, rest)
}

pub(super) fn add(e: Env, a: u64, b: u64) -> u64 {
    e.mode.put_f16(e.mode.f16(a) + e.mode.f16(b), 0.0)
}

pub(super) fn mul(e: Env, a: u64, b: u64) -> u64 {
    e.mode.put_f16(e.mode.f16(a) * e.mode.f16(b), 0.0)
}

fn one(e: Env, a: u64, f: fn(f64) -> f64) -> u64 {
    e.mode.put_f16(f(e.mode.f16(a)), 0.0)
}

pub(super) fn max(e: Env, a: u64, b: u64) -> u64 {
    let (x, y) = (e.mode.f16(a), e.mode.f16(b));
    if x == y { if a & SIGN != 0 { b } else { a } } else { e.mode.put_f16(x.max(y), 0.0) }
}

pub(super) fn min(e: Env, a: u64, b: u64) -> u64 {
    let (x, y) = (e.mode.f16(a), e.mode.f16(b));
    if x == y { if a & SIGN != 0 { a } else { b } } else { e.mode.put_f16(x.min(y), 0.0) }
}

fn med3(e: Env, [a, b, c]: [u64; 3]) -> u64 {
    max(e, min(e, a, b), min(e, max(e, a, b), c))
}

#[rustfmt::skip] // a table reads by columns
pub(super) const ROWS: &[Row] = &[
    lane("v_add_f16", "f16: f16 f16", "S0 + S1", |e, [a, b, _]| add(e, a, b), &[(&[ONE, TWO], THREE)]),
    lane("v_sub_f16", "f16: f16 f16", "S0 - S1", |e, [a, b, _]| add(e, a, b ^ SIGN), &[(&[THREE, TWO], ONE)]),
    lane("v_subrev_f16", "f16: f16 f16", "S1 - S0", |e, [a, b, _]| add(e, b, a ^ SIGN), &[(&[TWO, THREE], ONE)]),
    lane("v_mul_f16", "f16: f16 f16", "S0 * S1", |e, [a, b, _]| mul(e, a, b), &[(&[ONE, THREE], THREE)]),
    lane("v_fma_f16", "f16: f16 f16 f16", "S0 * S1 + S2, one rounding", |e, [a, b, c]| fma(e, a, b, c), &[(&[ONE, TWO, ONE], THREE)]),
    lane("v_fmac_f16", "f16: f16 f16 d", "S0 * S1 + D, one rounding", |e, [a, b, c]| fma(e, a, b, c & 0xffff), &[(&[ONE, TWO, ONE], THREE)]),
    lane("v_fmaak_f16", "f16: f16 f16 f16", "S0 * S1 + K, one rounding", |e, [a, b, c]| fma(e, a, b, c), &[(&[ONE, TWO, ONE], THREE)]),
    lane("v_fmamk_f16", "f16: f16 f16 f16", "S0 * K + S1, one rounding", |e, [a, b, c]| fma(e, a, b, c), &[(&[ONE, TWO, ONE], THREE)]),
    lane("v_max_f16", "f16: f16 f16", "the larger; a NaN gives the other", |e, [a, b, _]| max(e, a, b), &[(&[ONE, TWO], TWO)]),
    lane("v_min_f16", "f16: f16 f16", "the smaller; a NaN gives the other", |e, [a, b, _]| min(e, a, b), &[(&[ONE, TWO], ONE)]),
    lane("v_max3_f16", "f16: f16 f16 f16", "the largest", |e, [a, b, c]| max(e, max(e, a, b), c), &[(&[ONE, THREE, TWO], THREE)]),
    lane("v_min3_f16", "f16: f16 f16 f16", "the smallest", |e, [a, b, c]| min(e, min(e, a, b), c), &[(&[TWO, THREE, ONE], ONE)]),
    lane("v_med3_f16", "f16: f16 f16 f16", "the middle one", med3, &[(&[ONE, THREE, TWO], TWO)]),
    lane("v_floor_f16", "f16: f16", "to the whole number below", |e, [a, ..]| one(e, a, f64::floor), &[(&[0x3e00], ONE)]),
    lane("v_ceil_f16", "f16: f16", "to the whole number above", |e, [a, ..]| one(e, a, f64::ceil), &[(&[0x3e00], TWO)]),
    lane("v_trunc_f16", "f16: f16", "to the whole number towards zero", |e, [a, ..]| one(e, a, f64::trunc), &[(&[0x3e00], ONE)]),
    lane("v_rndne_f16", "f16: f16", "to the nearest whole number, ties to even", |e, [a, ..]| one(e, a, f64::round_ties_even), &[(&[0x3e00], TWO)]),
    lane("v_fract_f16", "f16: f16", "S0 - floor(S0)", |e, [a, ..]| one(e, a, |x| x - x.floor()), &[(&[0x3e00], 0x3800)]),
    lane("v_rcp_f16", "f16: f16", "1 / S0", |e, [a, ..]| one(e, a, f64::recip), &[(&[TWO], 0x3800)]),
    lane("v_sqrt_f16", "f16: f16", "sqrt(S0)", |e, [a, ..]| one(e, a, f64::sqrt), &[(&[0x4400], TWO)]),
    lane("v_rsq_f16", "f16: f16", "1 / sqrt(S0)", |e, [a, ..]| one(e, a, |x| 1.0 / x.sqrt()), &[(&[0x4400], 0x3800)]),
    lane("v_exp_f16", "f16: f16", "2^S0", |e, [a, ..]| one(e, a, f64::exp2), &[(&[ONE], TWO)]),
    lane("v_log_f16", "f16: f16", "the binary logarithm of S0", |e, [a, ..]| one(e, a, f64::log2), &[(&[TWO], ONE)]),
    lane("v_ldexp_f16", "f16: f16 i16", "S0 * 2^S1", |e, [a, b, _]| e.mode.put_f16(e.mode.f16(a) * 2f64.powi(i32::from(b as i16).clamp(-60, 60)), 0.0), &[(&[ONE, 1], TWO)]),
    lane("v_div_fixup_f16", "f16: f16 f16 f16", "the quotient S0 of S2 / S1, mended where they are special", |e, [q, b, c]| { let (x, y) = (e.mode.f16(b), e.mode.f16(c)); if x == 0.0 || y == 0.0 || !x.is_finite() || !y.is_finite() { e.mode.put_f16(y / x, 0.0) } else { (b ^ c) & SIGN | q & 0x7fff } }, &[(&[ONE, TWO, TWO], ONE), (&[ONE, 0, TWO], 0x7c00)]),
];
