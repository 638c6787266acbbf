//! Scalar arithmetic. `+c` in a signature: SCC is written too.

use super::{Row, f, scalar_row};
use crate::number::{F16, nearest, two_sum};

fn low(x: u64) -> u64 {
    x & 0xffff_ffff
}

fn s(x: u64) -> i64 {
    i64::from(x as i32)
}

fn any(x: u64) -> (u64, bool) {
    (x, x != 0)
}

fn signed(x: i64) -> (u64, bool) {
    (u64::from(x as u32), i64::from(x as i32) != x)
}

fn bfe(x: u64, field: u64, bits: u64) -> u64 {
    let (from, width) = (field & (bits - 1), field >> 16 & 0x7f);
    let cut = x >> from;
    if width >= 64 { cut } else { cut & ((1 << width) - 1) }
}

fn bfe_signed(x: i64, field: u64, bits: u64) -> i64 {
    let (from, width) = ((field & (bits - 1)) as u32, (field >> 16 & 0x7f) as u32);
    if width == 0 {
        return 0;
    }
    let top = 64 - (from + width).min(bits as u32);
    x << top >> top >> from
}

#[rustfmt::skip] // a table reads by columns
pub(super) const ROWS: &[Row] = &[
    scalar_row("s_mov_b32", "u32: u32", "S0", |_, [a, ..], _| (a, false), &[(&[7], 7)]),
    scalar_row("s_mov_b64", "u64: u64", "S0", |_, [a, ..], _| (a, false), &[(&[7 << 32], 7 << 32)]),
    scalar_row("s_movk_i32", "u32: k16", "the constant with its sign", |_, [a, ..], _| (a, false), &[(&[0xffff_fffe], 0xffff_fffe)]),
    scalar_row("s_cmov_b32", "u32: u32 d", "S0 if SCC, else D", |_, [a, b, _], c| (if c { a } else { b }, c), &[(&[1, 2], 2)]),
    scalar_row("s_cmov_b64", "u64: u64 d", "S0 if SCC, else D", |_, [a, b, _], c| (if c { a } else { b }, c), &[(&[1, 2], 2)]),
    scalar_row("s_cmovk_i32", "u32: k16 d", "the constant if SCC, else D", |_, [a, b, _], c| (if c { a } else { b }, c), &[(&[1, 2], 2)]),
    scalar_row("s_cselect_b32", "u32: u32 u32", "S0 if SCC, else S1", |_, [a, b, _], c| (if c { a } else { b }, c), &[(&[1, 2], 2)]),
    scalar_row("s_cselect_b64", "u64: u64 u64", "S0 if SCC, else S1", |_, [a, b, _], c| (if c { a } else { b }, c), &[(&[1, 2], 2)]),
    scalar_row("s_add_u32", "u32+c: u32 u32", "S0 + S1; SCC is the carry", |_, [a, b, _], _| (low(a + b), (a + b) >> 32 != 0), &[(&[0xffff_ffff, 2], 1)]),
    scalar_row("s_addc_u32", "u32+c: u32 u32", "S0 + S1 + SCC; SCC is the carry", |_, [a, b, _], c| { let x = a + b + u64::from(c); (low(x), x >> 32 != 0) }, &[(&[3, 2], 5)]),
    scalar_row("s_sub_u32", "u32+c: u32 u32", "S0 - S1; SCC is the borrow", |_, [a, b, _], _| (low(a.wrapping_sub(b)), b > a), &[(&[1, 2], 0xffff_ffff)]),
    scalar_row("s_subb_u32", "u32+c: u32 u32", "S0 - S1 - SCC; SCC is the borrow", |_, [a, b, _], c| { let y = b + u64::from(c); (low(a.wrapping_sub(y)), y > a) }, &[(&[5, 2], 3)]),
    scalar_row("s_add_i32", "i32+c: i32 i32", "S0 + S1; SCC is the overflow", |_, [a, b, _], _| signed(s(a) + s(b)), &[(&[0x7fff_ffff, 1], 0x8000_0000)]),
    scalar_row("s_sub_i32", "i32+c: i32 i32", "S0 - S1; SCC is the overflow", |_, [a, b, _], _| signed(s(a) - s(b)), &[(&[3, 5], 0xffff_fffe)]),
    scalar_row("s_addk_i32", "i32+c: d k16", "D + the constant; SCC is the overflow", |_, [a, b, _], _| signed(s(a) + s(b)), &[(&[3, 0xffff_ffff], 2)]),
    scalar_row("s_mulk_i32", "i32: d k16", "D * the constant", |_, [a, b, _], _| (low(a.wrapping_mul(b)), false), &[(&[3, 5], 15)]),
    scalar_row("s_mul_i32", "i32: i32 i32", "low half of S0 * S1", |_, [a, b, _], _| (low(a.wrapping_mul(b)), false), &[(&[0xffff_ffff, 5], 0xffff_fffb)]),
    scalar_row("s_mul_hi_u32", "u32: u32 u32", "high half of S0 * S1", |_, [a, b, _], _| ((a * b) >> 32, false), &[(&[0x8000_0000, 6], 3)]),
    scalar_row("s_mul_hi_i32", "i32: i32 i32", "high half of the signed S0 * S1", |_, [a, b, _], _| (low(((s(a) * s(b)) >> 32) as u64), false), &[(&[0xffff_ffff, 5], 0xffff_ffff)]),
    scalar_row("s_mul_u64", "u64: u64 u64", "S0 * S1 in 64 bits", |_, [a, b, _], _| (a.wrapping_mul(b), false), &[(&[1 << 32, 3], 3 << 32)]),
    scalar_row("s_add_nc_u64", "u64: u64 u64", "S0 + S1 in 64 bits", |_, [a, b, _], _| (a.wrapping_add(b), false), &[(&[0xffff_ffff, 1], 1 << 32)]),
    scalar_row("s_sub_nc_u64", "u64: u64 u64", "S0 - S1 in 64 bits", |_, [a, b, _], _| (a.wrapping_sub(b), false), &[(&[1 << 32, 1], 0xffff_ffff)]),
    scalar_row("s_abs_i32", "i32+c: i32", "|S0|", |_, [a, ..], _| any(low(s(a).unsigned_abs())), &[(&[0xffff_fffe], 2)]),
    scalar_row("s_absdiff_i32", "i32+c: i32 i32", "|S0 - S1|", |_, [a, b, _], _| any(low((s(a) - s(b)).unsigned_abs())), &[(&[3, 5], 2)]),
    scalar_row("s_min_i32", "i32+c: i32 i32", "the smaller, signed; SCC: it is S0", |_, [a, b, _], _| (if s(a) < s(b) { a } else { b }, s(a) < s(b)), &[(&[0xffff_ffff, 1], 0xffff_ffff)]),
    scalar_row("s_max_i32", "i32+c: i32 i32", "the larger, signed; SCC: it is S0", |_, [a, b, _], _| (if s(a) >= s(b) { a } else { b }, s(a) >= s(b)), &[(&[0xffff_ffff, 1], 1)]),
    scalar_row("s_min_u32", "u32+c: u32 u32", "the smaller; SCC: it is S0", |_, [a, b, _], _| (a.min(b), a < b), &[(&[0xffff_ffff, 1], 1)]),
    scalar_row("s_max_u32", "u32+c: u32 u32", "the larger; SCC: it is S0", |_, [a, b, _], _| (a.max(b), a >= b), &[(&[0xffff_ffff, 1], 0xffff_ffff)]),
    scalar_row("s_not_b32", "u32+c: u32", "every bit turned", |_, [a, ..], _| any(low(!a)), &[(&[1], 0xffff_fffe)]),
    scalar_row("s_not_b64", "u64+c: u64", "every bit turned", |_, [a, ..], _| any(!a), &[(&[1], !1)]),
    scalar_row("s_and_b32", "u32+c: u32 u32", "S0 & S1", |_, [a, b, _], _| any(a & b), &[(&[6, 3], 2)]),
    scalar_row("s_or_b32", "u32+c: u32 u32", "S0 | S1", |_, [a, b, _], _| any(a | b), &[(&[6, 3], 7)]),
    scalar_row("s_xor_b32", "u32+c: u32 u32", "S0 ^ S1", |_, [a, b, _], _| any(a ^ b), &[(&[6, 3], 5)]),
    scalar_row("s_nand_b32", "u32+c: u32 u32", "S0 & S1, turned", |_, [a, b, _], _| any(low(!(a & b))), &[(&[6, 3], 0xffff_fffd)]),
    scalar_row("s_nor_b32", "u32+c: u32 u32", "S0 | S1, turned", |_, [a, b, _], _| any(low(!(a | b))), &[(&[6, 3], 0xffff_fff8)]),
    scalar_row("s_xnor_b32", "u32+c: u32 u32", "S0 ^ S1, turned", |_, [a, b, _], _| any(low(!(a ^ b))), &[(&[6, 3], 0xffff_fffa)]),
    scalar_row("s_and_not1_b32", "u32+c: u32 u32", "S0 without the bits of S1", |_, [a, b, _], _| any(a & !b), &[(&[6, 3], 4)]),
    scalar_row("s_or_not1_b32", "u32+c: u32 u32", "S0 and the bits that S1 has not", |_, [a, b, _], _| any(low(a | !b)), &[(&[6, 3], 0xffff_fffe)]),
    scalar_row("s_and_b64", "u64+c: u64 u64", "S0 & S1", |_, [a, b, _], _| any(a & b), &[(&[6, 3], 2)]),
    scalar_row("s_or_b64", "u64+c: u64 u64", "S0 | S1", |_, [a, b, _], _| any(a | b), &[(&[6, 3], 7)]),
    scalar_row("s_xor_b64", "u64+c: u64 u64", "S0 ^ S1", |_, [a, b, _], _| any(a ^ b), &[(&[6, 3], 5)]),
    scalar_row("s_and_not1_b64", "u64+c: u64 u64", "S0 without the bits of S1", |_, [a, b, _], _| any(a & !b), &[(&[6, 3], 4)]),
    scalar_row("s_or_not1_b64", "u64+c: u64 u64", "S0 and the bits that S1 has not", |_, [a, b, _], _| any(a | !b), &[(&[6, 3], !1)]),
    scalar_row("s_lshl_b32", "u32+c: u32 u32", "S0 << S1[4:0]", |_, [a, b, _], _| any(low(a << (b & 31))), &[(&[3, 33], 6)]),
    scalar_row("s_lshr_b32", "u32+c: u32 u32", "S0 >> S1[4:0]", |_, [a, b, _], _| any(a >> (b & 31)), &[(&[6, 1], 3)]),
    scalar_row("s_ashr_i32", "i32+c: i32 u32", "S0 >> S1[4:0], signed", |_, [a, b, _], _| any(low((s(a) >> (b & 31)) as u64)), &[(&[0x8000_0000, 1], 0xc000_0000)]),
    scalar_row("s_lshl_b64", "u64+c: u64 u32", "S0 << S1[5:0]", |_, [a, b, _], _| any(a << (b & 63)), &[(&[3, 33], 6 << 32)]),
    scalar_row("s_lshr_b64", "u64+c: u64 u32", "S0 >> S1[5:0]", |_, [a, b, _], _| any(a >> (b & 63)), &[(&[6 << 32, 33], 3)]),
    scalar_row("s_ashr_i64", "i64+c: i64 u32", "S0 >> S1[5:0], signed", |_, [a, b, _], _| any((a as i64 >> (b & 63)) as u64), &[(&[1 << 63, 1], 3 << 62)]),
    scalar_row("s_lshl1_add_u32", "u32+c: u32 u32", "(S0 << 1) + S1; SCC is the carry", |_, [a, b, _], _| { let x = (a << 1) + b; (low(x), x >> 32 != 0) }, &[(&[3, 1], 7)]),
    scalar_row("s_lshl2_add_u32", "u32+c: u32 u32", "(S0 << 2) + S1; SCC is the carry", |_, [a, b, _], _| { let x = (a << 2) + b; (low(x), x >> 32 != 0) }, &[(&[3, 1], 13)]),
    scalar_row("s_lshl3_add_u32", "u32+c: u32 u32", "(S0 << 3) + S1; SCC is the carry", |_, [a, b, _], _| { let x = (a << 3) + b; (low(x), x >> 32 != 0) }, &[(&[3, 1], 25)]),
    scalar_row("s_lshl4_add_u32", "u32+c: u32 u32", "(S0 << 4) + S1; SCC is the carry", |_, [a, b, _], _| { let x = (a << 4) + b; (low(x), x >> 32 != 0) }, &[(&[3, 1], 49)]),
    scalar_row("s_bfe_u32", "u32+c: u32 u32", "S1[22:16] bits of S0 from S1[4:0]", |_, [a, b, _], _| any(bfe(a, b, 32)), &[(&[0xf0, 3 << 16 | 4], 7)]),
    scalar_row("s_bfe_i32", "i32+c: i32 u32", "S1[22:16] bits of S0 from S1[4:0], signed", |_, [a, b, _], _| any(low(bfe_signed(s(a), b, 32) as u64)), &[(&[0xf0, 3 << 16 | 4], 0xffff_ffff)]),
    scalar_row("s_bfe_u64", "u64+c: u64 u32", "S1[22:16] bits of S0 from S1[5:0]", |_, [a, b, _], _| any(bfe(a, b, 64)), &[(&[0xf0 << 32, 3 << 16 | 36], 7)]),
    scalar_row("s_bfe_i64", "i64+c: i64 u32", "S1[22:16] bits of S0 from S1[5:0], signed", |_, [a, b, _], _| any(bfe_signed(a as i64, b, 64) as u64), &[(&[0xf0 << 32, 3 << 16 | 36], !0)]),
    scalar_row("s_bfm_b32", "u32: u32 u32", "S0[4:0] ones from S1[4:0]", |_, [a, b, _], _| (low(((1 << (a & 31)) - 1) << (b & 31)), false), &[(&[3, 2], 0x1c)]),
    scalar_row("s_bfm_b64", "u64: u32 u32", "S0[5:0] ones from S1[5:0]", |_, [a, b, _], _| (((1 << (a & 63)) - 1) << (b & 63), false), &[(&[3, 34], 7 << 34)]),
    scalar_row("s_brev_b32", "u32: u32", "the bits in the other order", |_, [a, ..], _| (u64::from((a as u32).reverse_bits()), false), &[(&[1], 0x8000_0000)]),
    scalar_row("s_brev_b64", "u64: u64", "the bits in the other order", |_, [a, ..], _| (a.reverse_bits(), false), &[(&[1], 1 << 63)]),
    scalar_row("s_bcnt0_i32_b32", "u32+c: u32", "zeros of S0", |_, [a, ..], _| any(u64::from((a as u32).count_zeros())), &[(&[1], 31)]),
    scalar_row("s_bcnt1_i32_b32", "u32+c: u32", "ones of S0", |_, [a, ..], _| any(u64::from(a.count_ones())), &[(&[7], 3)]),
    scalar_row("s_bcnt1_i32_b64", "u32+c: u64", "ones of S0", |_, [a, ..], _| any(u64::from(a.count_ones())), &[(&[7 << 32], 3)]),
    scalar_row("s_ctz_i32_b32", "u32: u32", "zeros below the lowest one; -1: none", |_, [a, ..], _| (if a == 0 { 0xffff_ffff } else { u64::from(a.trailing_zeros()) }, false), &[(&[8], 3), (&[0], 0xffff_ffff)]),
    scalar_row("s_ctz_i32_b64", "u32: u64", "zeros below the lowest one; -1: none", |_, [a, ..], _| (if a == 0 { 0xffff_ffff } else { u64::from(a.trailing_zeros()) }, false), &[(&[8 << 32], 35)]),
    scalar_row("s_clz_i32_u32", "u32: u32", "zeros above the highest one; -1: none", |_, [a, ..], _| (if a == 0 { 0xffff_ffff } else { u64::from((a as u32).leading_zeros()) }, false), &[(&[1], 31)]),
    scalar_row("s_clz_i32_u64", "u32: u64", "zeros above the highest one; -1: none", |_, [a, ..], _| (if a == 0 { 0xffff_ffff } else { u64::from(a.leading_zeros()) }, false), &[(&[1], 63)]),
    scalar_row("s_cls_i32", "u32: i32", "bits at the top that equal the sign; -1: all", |_, [a, ..], _| { let x = a as u32; let y = x ^ (x as i32 >> 31) as u32; (if y == 0 { 0xffff_ffff } else { u64::from(y.leading_zeros()) }, false) }, &[(&[0xff00_0000], 8)]),
    scalar_row("s_sext_i32_i8", "i32: u32", "the low byte with its sign", |_, [a, ..], _| (u64::from(i32::from(a as i8) as u32), false), &[(&[0x1ff], 0xffff_ffff)]),
    scalar_row("s_sext_i32_i16", "i32: u32", "the low half with its sign", |_, [a, ..], _| (u64::from(i32::from(a as i16) as u32), false), &[(&[0x1_ffff], 0xffff_ffff)]),
    scalar_row("s_bitset0_b32", "u32: d u32", "D with bit S0[4:0] cleared", |_, [old, a, _], _| (old & !(1 << (a & 31)), false), &[(&[7, 1], 5)]),
    scalar_row("s_bitset1_b32", "u32: d u32", "D with bit S0[4:0] set", |_, [old, a, _], _| (old | 1 << (a & 31), false), &[(&[5, 1], 7)]),
    scalar_row("s_bitcmp0_b32", "c: u32 u32", "SCC: bit S1[4:0] of S0 is 0", |_, [a, b, _], _| (0, a >> (b & 31) & 1 == 0), &[(&[2, 0], 0)]),
    scalar_row("s_bitcmp1_b32", "c: u32 u32", "SCC: bit S1[4:0] of S0 is 1", |_, [a, b, _], _| (0, a >> (b & 31) & 1 == 1), &[(&[2, 1], 0)]),
    scalar_row("s_bitcmp0_b64", "c: u64 u32", "SCC: bit S1[5:0] of S0 is 0", |_, [a, b, _], _| (0, a >> (b & 63) & 1 == 0), &[(&[2, 0], 0)]),
    scalar_row("s_bitcmp1_b64", "c: u64 u32", "SCC: bit S1[5:0] of S0 is 1", |_, [a, b, _], _| (0, a >> (b & 63) & 1 == 1), &[(&[2, 1], 0)]),
    scalar_row("s_pack_ll_b32_b16", "u32: u32 u32", "low half of S0, low half of S1 above it", |_, [a, b, _], _| (a & 0xffff | low(b << 16), false), &[(&[0x1_0002, 0x3_0004], 0x4_0002)]),
    scalar_row("s_pack_lh_b32_b16", "u32: u32 u32", "low half of S0, high half of S1 above it", |_, [a, b, _], _| (a & 0xffff | b & 0xffff_0000, false), &[(&[0x1_0002, 0x3_0004], 0x3_0002)]),
    scalar_row("s_pack_hl_b32_b16", "u32: u32 u32", "high half of S0, low half of S1 above it", |_, [a, b, _], _| (a >> 16 | low(b << 16), false), &[(&[0x1_0002, 0x3_0004], 0x4_0001)]),
    scalar_row("s_pack_hh_b32_b16", "u32: u32 u32", "high half of S0, high half of S1 above it", |_, [a, b, _], _| (a >> 16 | b & 0xffff_0000, false), &[(&[0x1_0002, 0x3_0004], 0x3_0001)]),
    scalar_row("s_wqm_b32", "u32+c: u32", "each four bits all ones if any is", |_, [a, ..], _| any((0..8).fold(0, |x, i| if a >> (4 * i) & 15 != 0 { x | 15 << (4 * i) } else { x })), &[(&[0x10], 0xf0)]),
];

fn x(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn h(bits: u64) -> f64 {
    half::f16::from_bits(bits as u16).to_f64()
}

fn half(x: f64) -> (u64, bool) {
    (crate::number::f16_bits(nearest(x, F16)), false)
}

/// The scalar float unit of gfx11.5 and gfx12.
#[rustfmt::skip]
pub(super) const FLOAT_ROWS: &[Row] = &[
    scalar_row("s_add_f32", "f32: f32 f32", "S0 + S1", |m, [a, b, _], _| (m.put(m.f32(a) + m.f32(b)), false), &[(&[f(1.5), f(2.0)], f(3.5))]),
    scalar_row("s_sub_f32", "f32: f32 f32", "S0 - S1", |m, [a, b, _], _| (m.put(m.f32(a) - m.f32(b)), false), &[(&[f(1.5), f(2.0)], f(-0.5))]),
    scalar_row("s_mul_f32", "f32: f32 f32", "S0 * S1", |m, [a, b, _], _| (m.put(m.f32(a) * m.f32(b)), false), &[(&[f(1.5), f(2.0)], f(3.0))]),
    scalar_row("s_fmac_f32", "f32: f32 f32 d", "S0 * S1 + D, one rounding", |m, [a, b, c], _| (m.put(m.f32(a).mul_add(m.f32(b), m.f32(c))), false), &[(&[f(1.5), f(2.0), f(1.0)], f(4.0))]),
    scalar_row("s_fmaak_f32", "f32: f32 f32 f32", "S0 * S1 + K, one rounding", |m, [a, b, c], _| (m.put(m.f32(a).mul_add(m.f32(b), m.f32(c))), false), &[(&[f(1.5), f(2.0), f(1.0)], f(4.0))]),
    scalar_row("s_fmamk_f32", "f32: f32 f32 f32", "S0 * K + S1, one rounding", |m, [a, b, c], _| (m.put(m.f32(a).mul_add(m.f32(b), m.f32(c))), false), &[(&[f(1.5), f(2.0), f(1.0)], f(4.0))]),
    scalar_row("s_max_f32", "f32: f32 f32", "the larger; a NaN gives the other", |m, [a, b, _], _| (m.put(m.f32(a).max(m.f32(b))), false), &[(&[f(1.5), f(2.0)], f(2.0))]),
    scalar_row("s_min_f32", "f32: f32 f32", "the smaller; a NaN gives the other", |m, [a, b, _], _| (m.put(m.f32(a).min(m.f32(b))), false), &[(&[f(1.5), f(2.0)], f(1.5))]),
    scalar_row("s_floor_f32", "f32: f32", "to the whole number below", |_, [a, ..], _| (f(x(a).floor()), false), &[(&[f(-1.5)], f(-2.0))]),
    scalar_row("s_ceil_f32", "f32: f32", "to the whole number above", |_, [a, ..], _| (f(x(a).ceil()), false), &[(&[f(-1.5)], f(-1.0))]),
    scalar_row("s_trunc_f32", "f32: f32", "to the whole number towards zero", |_, [a, ..], _| (f(x(a).trunc()), false), &[(&[f(-1.5)], f(-1.0))]),
    scalar_row("s_rndne_f32", "f32: f32", "to the nearest whole number, ties to even", |_, [a, ..], _| (f(x(a).round_ties_even()), false), &[(&[f(2.5)], f(2.0))]),
    scalar_row("s_cvt_f32_i32", "f32: i32", "S0, rounded", |_, [a, ..], _| (f(a as i32 as f32), false), &[(&[0xffff_ffff], f(-1.0))]),
    scalar_row("s_cvt_f32_u32", "f32: u32", "S0, rounded", |_, [a, ..], _| (f(a as u32 as f32), false), &[(&[3], f(3.0))]),
    scalar_row("s_cvt_i32_f32", "i32: f32", "S0 towards zero, held within the type", |_, [a, ..], _| (u64::from(x(a) as i32 as u32), false), &[(&[f(-1.5)], 0xffff_ffff)]),
    scalar_row("s_cvt_u32_f32", "u32: f32", "S0 towards zero, held within the type", |_, [a, ..], _| (u64::from(x(a) as u32), false), &[(&[f(-1.5)], 0)]),
    scalar_row("s_cvt_f16_f32", "u32: f32", "S0, rounded, in the low half", |m, [a, ..], _| (m.put_f16(f64::from(m.f32(a)), 0.0), false), &[(&[f(1.0)], 0x3c00)]),
    scalar_row("s_cvt_f32_f16", "f32: u32", "the low half, exact", |m, [a, ..], _| (f(m.f16(a) as f32), false), &[(&[0x3c00], f(1.0))]),
    scalar_row("s_cvt_hi_f32_f16", "f32: u32", "the high half, exact", |m, [a, ..], _| (f(m.f16(a >> 16) as f32), false), &[(&[0x3c00 << 16], f(1.0))]),
    scalar_row("s_cvt_pk_rtz_f16_f32", "u32: f32 f32", "both as f16, towards zero, packed", |_, [a, b, _], _| { let t = |v: u64| crate::number::f16_bits(crate::number::round(f64::from(x(v)), 0.0, 3, F16)); (t(a) | t(b) << 16, false) }, &[(&[f(1.0), f(65_536.0)], 0x7bff_3c00)]),
    scalar_row("s_add_f16", "u32: f16 f16", "S0 + S1 in half precision", |_, [a, b, _], _| half(h(a) + h(b)), &[(&[0x3c00, 0x3c00], 0x4000)]),
    scalar_row("s_sub_f16", "u32: f16 f16", "S0 - S1 in half precision", |_, [a, b, _], _| half(h(a) - h(b)), &[(&[0x4000, 0x3c00], 0x3c00)]),
    scalar_row("s_mul_f16", "u32: f16 f16", "S0 * S1 in half precision", |_, [a, b, _], _| half(h(a) * h(b)), &[(&[0x4000, 0x3c00], 0x4000)]),
    scalar_row("s_fmac_f16", "u32: f16 f16 d", "S0 * S1 + D in half precision, one rounding", |m, [a, b, c], _| { let (sum, rest) = two_sum(h(a) * h(b), h(c)); (m.put_f16(sum, rest), false) }, &[(&[0x3c00, 0x3c00, 0x3c00], 0x4000)]),
];
