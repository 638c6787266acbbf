//! Operations on packed halves, dot products, and the multiply-add of mixed precision.

use super::half_float::{add, fma, max, min, mul};
use super::{Row, f, lane, packed_row};
use crate::number::{bf16_to_f32, two_sum};

fn s16(x: u64) -> i64 {
    i64::from(x as i16)
}

fn h(x: i64) -> u64 {
    x as u64 & 0xffff
}

fn f16_dot(a: u64, b: u64) -> f64 {
    let half = |x: u64, i: u32| half::f16::from_bits((x >> (16 * i)) as u16).to_f64();
    (0..2).map(|i| half(a, i) * half(b, i)).sum()
}

fn bf16_dot(a: u64, b: u64) -> f64 {
    let half = |x: u64, i: u32| f64::from(bf16_to_f32((x >> (16 * i)) as u32 & 0xffff));
    (0..2).map(|i| half(a, i) * half(b, i)).sum()
}

fn float(x: u64) -> f64 {
    f64::from(f32::from_bits(x as u32))
}

/// Each half on its own: the row says what one half does.
#[rustfmt::skip] // a table reads by columns
pub(super) const ROWS: &[Row] = &[
    packed_row("v_pk_add_f16", "f16: f16 f16", "S0 + S1", |e, [a, b, _]| add(e, a, b), &[(&[0x3c00, 0x3c00], 0x4000)]),
    packed_row("v_pk_mul_f16", "f16: f16 f16", "S0 * S1", |e, [a, b, _]| mul(e, a, b), &[(&[0x4000, 0x3c00], 0x4000)]),
    packed_row("v_pk_fma_f16", "f16: f16 f16 f16", "S0 * S1 + S2, one rounding", |e, [a, b, c]| fma(e, a, b, c), &[(&[0x3c00, 0x3c00, 0x3c00], 0x4000)]),
    packed_row("v_pk_fmac_f16", "f16: f16 f16 d", "S0 * S1 + D, one rounding", |e, [a, b, c]| fma(e, a, b, c), &[(&[0x3c00, 0x3c00, 0x3c00], 0x4000)]),
    packed_row("v_pk_max_f16", "f16: f16 f16", "the larger", |e, [a, b, _]| max(e, a, b), &[(&[0x3c00, 0x4000], 0x4000)]),
    packed_row("v_pk_min_f16", "f16: f16 f16", "the smaller", |e, [a, b, _]| min(e, a, b), &[(&[0x3c00, 0x4000], 0x3c00)]),
    packed_row("v_pk_add_u16", "u16: u16 u16", "S0 + S1", |_, [a, b, _]| (a + b) & 0xffff, &[(&[0xffff, 2], 1)]),
    packed_row("v_pk_add_i16", "i16: i16 i16", "S0 + S1", |_, [a, b, _]| (a + b) & 0xffff, &[(&[0xffff, 2], 1)]),
    packed_row("v_pk_sub_u16", "u16: u16 u16", "S0 - S1", |_, [a, b, _]| a.wrapping_sub(b) & 0xffff, &[(&[1, 2], 0xffff)]),
    packed_row("v_pk_sub_i16", "i16: i16 i16", "S0 - S1", |_, [a, b, _]| a.wrapping_sub(b) & 0xffff, &[(&[1, 2], 0xffff)]),
    packed_row("v_pk_mul_lo_u16", "u16: u16 u16", "low half of S0 * S1", |_, [a, b, _]| (a * b) & 0xffff, &[(&[0x101, 0x101], 0x201)]),
    packed_row("v_pk_mad_u16", "u16: u16 u16 u16", "S0 * S1 + S2", |_, [a, b, c]| (a * b + c) & 0xffff, &[(&[3, 4, 5], 17)]),
    packed_row("v_pk_mad_i16", "i16: i16 i16 i16", "S0 * S1 + S2", |_, [a, b, c]| (a * b + c) & 0xffff, &[(&[3, 4, 5], 17)]),
    packed_row("v_pk_max_u16", "u16: u16 u16", "the larger", |_, [a, b, _]| a.max(b), &[(&[0xffff, 1], 0xffff)]),
    packed_row("v_pk_min_u16", "u16: u16 u16", "the smaller", |_, [a, b, _]| a.min(b), &[(&[0xffff, 1], 1)]),
    packed_row("v_pk_max_i16", "i16: i16 i16", "the larger, signed", |_, [a, b, _]| h(s16(a).max(s16(b))), &[(&[0xffff, 1], 1)]),
    packed_row("v_pk_min_i16", "i16: i16 i16", "the smaller, signed", |_, [a, b, _]| h(s16(a).min(s16(b))), &[(&[0xffff, 1], 0xffff)]),
    packed_row("v_pk_lshlrev_b16", "u16: u16 u16", "S1 << S0[3:0]", |_, [a, b, _]| (b << (a & 15)) & 0xffff, &[(&[1, 3], 6)]),
    packed_row("v_pk_lshrrev_b16", "u16: u16 u16", "S1 >> S0[3:0]", |_, [a, b, _]| b >> (a & 15), &[(&[1, 6], 3)]),
    packed_row("v_pk_ashrrev_i16", "i16: u16 i16", "S1 >> S0[3:0], signed", |_, [a, b, _]| h(s16(b) >> (a & 15)), &[(&[1, 0x8000], 0xc000)]),
    lane("v_dot2_f32_f16", "f32: u32 u32 f32", "the products of both halves and S2, added", |e, [a, b, c]| { let (sum, rest) = two_sum(f16_dot(a, b), float(c)); e.mode.put_exact(sum, rest) }, &[(&[0x3c00_4000, 0x4000_3c00, f(1.0)], f(5.0))]),
    lane("v_dot2acc_f32_f16", "f32: u32 u32 d", "the products of both halves and D, added", |e, [a, b, c]| { let (sum, rest) = two_sum(f16_dot(a, b), float(c)); e.mode.put_exact(sum, rest) }, &[(&[0x3c00_4000, 0x4000_3c00, f(1.0)], f(5.0))]),
    lane("v_dot2_f32_bf16", "f32: u32 u32 f32", "the products of both halves and S2, added", |e, [a, b, c]| { let (sum, rest) = two_sum(bf16_dot(a, b), float(c)); e.mode.put_exact(sum, rest) }, &[(&[0x3f80_4000, 0x4000_3f80, f(1.0)], f(5.0))]),
];

/// Where the result of a `v_fma_mix` goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mixed {
    /// A whole f32.
    Whole,
    /// An f16 in the low half, rounded once.
    Low,
    /// An f16 in the high half.
    High,
}

impl Mixed {
    /// `v_fma_mix_f32`, `v_fma_mixlo_f16`, `v_fma_mixhi_f16`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "v_fma_mix_f32" => Self::Whole,
            "v_fma_mixlo_f16" => Self::Low,
            "v_fma_mixhi_f16" => Self::High,
            _ => return None,
        })
    }
}
