//! Vector integer and bit operations.

use super::{Row, lane, masked};

const LOW_24: u64 = 0xff_ffff;

fn signed_24(x: u64) -> i64 {
    i64::from((x as i32) << 8 >> 8)
}

fn s(x: u64) -> i64 {
    i64::from(x as i32)
}

fn s16(x: u64) -> i64 {
    i64::from(x as i16)
}

fn u(x: i64) -> u64 {
    u64::from(x as u32)
}

/// Additions and products; 32-bit results wrap.
#[rustfmt::skip] // a table reads by columns
pub(super) const ROWS: &[Row] = &[
    lane("v_add_nc_u32", "u32: u32 u32", "S0 + S1, no carry out", |_, [a, b, _]| u((a + b) as i64), &[(&[7, 0xffff_fffe], 5)]),
    lane("v_sub_nc_u32", "u32: u32 u32", "S0 - S1, no borrow out", |_, [a, b, _]| u(a.wrapping_sub(b) as i64), &[(&[7, 9], 0xffff_fffe)]),
    lane("v_subrev_nc_u32", "u32: u32 u32", "S1 - S0, no borrow out", |_, [a, b, _]| u(b.wrapping_sub(a) as i64), &[(&[7, 9], 2)]),
    lane("v_add_nc_i32", "i32: i32 i32", "S0 + S1, signed", |_, [a, b, _]| u(s(a) + s(b)), &[(&[3, 0xffff_ffff], 2)]),
    lane("v_sub_nc_i32", "i32: i32 i32", "S0 - S1, signed", |_, [a, b, _]| u(s(a) - s(b)), &[(&[3, 0xffff_ffff], 4)]),
    lane("v_add3_u32", "u32: u32 u32 u32", "S0 + S1 + S2", |_, [a, b, c]| u((a + b + c) as i64), &[(&[1, 2, 3], 6)]),
    lane("v_xad_u32", "u32: u32 u32 u32", "(S0 ^ S1) + S2", |_, [a, b, c]| u(((a ^ b) + c) as i64), &[(&[5, 3, 10], 16)]),
    lane("v_lshl_add_u32", "u32: u32 u32 u32", "(S0 << S1[4:0]) + S2", |_, [a, b, c]| u(((a << (b & 31)) + c) as i64), &[(&[3, 33, 1], 7)]),
    lane("v_add_lshl_u32", "u32: u32 u32 u32", "(S0 + S1) << S2[4:0]", |_, [a, b, c]| u((((a + b) & 0xffff_ffff) << (c & 31)) as i64), &[(&[3, 1, 2], 16)]),
    lane("v_mul_lo_u32", "u32: u32 u32", "low half of S0 * S1", |_, [a, b, _]| u(a.wrapping_mul(b) as i64), &[(&[0x1_0001, 0x1_0001], 0x2_0001)]),
    lane("v_mul_hi_u32", "u32: u32 u32", "high half of S0 * S1", |_, [a, b, _]| (a * b) >> 32, &[(&[0x8000_0000, 6], 3)]),
    lane("v_mul_hi_i32", "i32: i32 i32", "high half of the signed S0 * S1", |_, [a, b, _]| u((s(a) * s(b)) >> 32), &[(&[0xffff_ffff, 5], 0xffff_ffff)]),
    lane("v_mul_u32_u24", "u32: u32 u32", "low half of the product of the low 24 bits", |_, [a, b, _]| u(((a & LOW_24) * (b & LOW_24)) as i64), &[(&[0xff00_0003, 5], 15)]),
    lane("v_mul_hi_u32_u24", "u32: u32 u32", "high half of the product of the low 24 bits", |_, [a, b, _]| ((a & LOW_24) * (b & LOW_24)) >> 32, &[(&[0x80_0000, 0x800], 4)]),
    lane("v_mul_i32_i24", "i32: i32 i32", "low half of the product of the low 24 bits, signed", |_, [a, b, _]| u(signed_24(a) * signed_24(b)), &[(&[0xff_ffff, 5], 0xffff_fffb)]),
    lane("v_mul_hi_i32_i24", "i32: i32 i32", "high half of the product of the low 24 bits, signed", |_, [a, b, _]| u((signed_24(a) * signed_24(b)) >> 32), &[(&[0xff_ffff, 5], 0xffff_ffff)]),
    lane("v_mad_u32_u24", "u32: u32 u32 u32", "S0[23:0] * S1[23:0] + S2", |_, [a, b, c]| u(((a & LOW_24) * (b & LOW_24) + c) as i64), &[(&[0xff00_0003, 5, 1], 16)]),
    lane("v_mad_i32_i24", "i32: i32 i32 i32", "S0[23:0] * S1[23:0] + S2, signed", |_, [a, b, c]| u(signed_24(a) * signed_24(b) + s(c)), &[(&[0xff_ffff, 5, 6], 1)]),
    lane("v_mad_u32_u16", "u32: u16 u16 u32", "S0[15:0] * S1[15:0] + S2", |_, [a, b, c]| u((a * b + c) as i64), &[(&[0xffff, 2, 3], 0x2_0001)]),
    lane("v_mad_i32_i16", "i32: i16 i16 i32", "S0[15:0] * S1[15:0] + S2, signed", |_, [a, b, c]| u(s16(a) * s16(b) + s(c)), &[(&[0xffff, 2, 3], 1)]),
    masked("v_mad_u64_u32", "u64+m: u32 u32 u64", "S0 * S1 + S2 in 64 bits; the mask is the carry", |_, [a, b, c]| (a * b).overflowing_add(c), &[(&[0xffff_ffff, 2, 5], 0x2_0000_0003)]),
    masked("v_mad_i64_i32", "u64+m: i32 i32 u64", "signed S0 * S1 + S2 in 64 bits", |_, [a, b, c]| { let (r, o) = (s(a) * s(b)).overflowing_add(c as i64); (r as u64, o) }, &[(&[0xffff_ffff, 2, 5], 3)]),
    masked("v_add_co_u32", "u32+m: u32 u32", "S0 + S1; the mask is the carry", |_, [a, b, _]| (u((a + b) as i64), (a + b) >> 32 != 0), &[(&[0xffff_ffff, 2], 1)]),
    masked("v_sub_co_u32", "u32+m: u32 u32", "S0 - S1; the mask is the borrow", |_, [a, b, _]| (u(a.wrapping_sub(b) as i64), b > a), &[(&[1, 2], 0xffff_ffff)]),
    masked("v_subrev_co_u32", "u32+m: u32 u32", "S1 - S0; the mask is the borrow", |_, [a, b, _]| (u(b.wrapping_sub(a) as i64), a > b), &[(&[1, 2], 1)]),
    masked("v_add_co_ci_u32", "u32+m: u32 u32 m", "S0 + S1 + carry in; the mask is the carry", |_, [a, b, c]| (u((a + b + c) as i64), (a + b + c) >> 32 != 0), &[(&[0xffff_ffff, 0, 1], 0), (&[3, 4, 0], 7)]),
    masked("v_sub_co_ci_u32", "u32+m: u32 u32 m", "S0 - S1 - borrow in", |_, [a, b, c]| (u(a.wrapping_sub(b + c) as i64), b + c > a), &[(&[3, 2, 1], 0), (&[3, 3, 1], 0xffff_ffff)]),
    masked("v_subrev_co_ci_u32", "u32+m: u32 u32 m", "S1 - S0 - borrow in", |_, [a, b, c]| (u(b.wrapping_sub(a + c) as i64), a + c > b), &[(&[2, 3, 1], 0)]),
    lane("v_min_i32", "i32: i32 i32", "the smaller, signed", |_, [a, b, _]| u(s(a).min(s(b))), &[(&[0xffff_ffff, 1], 0xffff_ffff)]),
    lane("v_max_i32", "i32: i32 i32", "the larger, signed", |_, [a, b, _]| u(s(a).max(s(b))), &[(&[0xffff_ffff, 1], 1)]),
    lane("v_min_u32", "u32: u32 u32", "the smaller", |_, [a, b, _]| a.min(b), &[(&[0xffff_ffff, 1], 1)]),
    lane("v_max_u32", "u32: u32 u32", "the larger", |_, [a, b, _]| a.max(b), &[(&[0xffff_ffff, 1], 0xffff_ffff)]),
    lane("v_min3_i32", "i32: i32 i32 i32", "the smallest, signed", |_, [a, b, c]| u(s(a).min(s(b)).min(s(c))), &[(&[3, 0xffff_ffff, 1], 0xffff_ffff)]),
    lane("v_max3_i32", "i32: i32 i32 i32", "the largest, signed", |_, [a, b, c]| u(s(a).max(s(b)).max(s(c))), &[(&[3, 0xffff_ffff, 1], 3)]),
    lane("v_med3_i32", "i32: i32 i32 i32", "the middle one, signed", |_, [a, b, c]| u(s(a).max(s(b)).min(s(c).max(s(a).min(s(b))))), &[(&[3, 0xffff_ffff, 1], 1)]),
    lane("v_min3_u32", "u32: u32 u32 u32", "the smallest", |_, [a, b, c]| a.min(b).min(c), &[(&[3, 0xffff_ffff, 1], 1)]),
    lane("v_max3_u32", "u32: u32 u32 u32", "the largest", |_, [a, b, c]| a.max(b).max(c), &[(&[3, 0xffff_ffff, 1], 0xffff_ffff)]),
    lane("v_med3_u32", "u32: u32 u32 u32", "the middle one", |_, [a, b, c]| a.max(b).min(c.max(a.min(b))), &[(&[3, 0xffff_ffff, 1], 3)]),
    lane("v_sad_u32", "u32: u32 u32 u32", "|S0 - S1| + S2", |_, [a, b, c]| u((a.abs_diff(b) + c) as i64), &[(&[3, 7, 1], 5)]),
    lane("v_add_nc_u16", "u16: u16 u16", "S0 + S1 in 16 bits", |_, [a, b, _]| (a + b) & 0xffff, &[(&[0xffff, 2], 1)]),
    lane("v_sub_nc_u16", "u16: u16 u16", "S0 - S1 in 16 bits", |_, [a, b, _]| a.wrapping_sub(b) & 0xffff, &[(&[1, 2], 0xffff)]),
    lane("v_mul_lo_u16", "u16: u16 u16", "low half of S0 * S1", |_, [a, b, _]| (a * b) & 0xffff, &[(&[0x101, 0x101], 0x201)]),
    lane("v_mad_u16", "u16: u16 u16 u16", "S0 * S1 + S2 in 16 bits", |_, [a, b, c]| (a * b + c) & 0xffff, &[(&[3, 4, 5], 17)]),
    lane("v_min_u16", "u16: u16 u16", "the smaller", |_, [a, b, _]| a.min(b), &[(&[0xffff, 1], 1)]),
    lane("v_max_u16", "u16: u16 u16", "the larger", |_, [a, b, _]| a.max(b), &[(&[0xffff, 1], 0xffff)]),
    lane("v_min_i16", "i16: i16 i16", "the smaller, signed", |_, [a, b, _]| s16(a).min(s16(b)) as u64 & 0xffff, &[(&[0xffff, 1], 0xffff)]),
    lane("v_max_i16", "i16: i16 i16", "the larger, signed", |_, [a, b, _]| s16(a).max(s16(b)) as u64 & 0xffff, &[(&[0xffff, 1], 1)]),
];

fn perm(hi: u64, lo: u64, select: u64) -> u64 {
    let bytes = hi << 32 | lo;
    let byte = |i: u32| match select >> (8 * i) & 0xff {
        k @ 0..=7 => bytes >> (8 * k) & 0xff,
        k @ 8..=11 => 0xff * (bytes >> (16 * (k - 8) + 15) & 1),
        12 => 0,
        _ => 0xff,
    };
    (0..4).fold(0, |all, i| all | byte(i) << (8 * i))
}

/// Shifts, bits, moves.
#[rustfmt::skip]
pub(super) const BIT_ROWS: &[Row] = &[
    lane("v_mov_b32", "u32: u32", "S0", |_, [a, ..]| a, &[(&[7], 7)]),
    lane("v_mov_b16", "u16: u16", "S0, one half", |_, [a, ..]| a, &[(&[7], 7)]),
    lane("v_not_b32", "u32: u32", "every bit turned", |_, [a, ..]| u(!a as i64), &[(&[1], 0xffff_fffe)]),
    lane("v_not_b16", "u16: u16", "every bit turned", |_, [a, ..]| !a & 0xffff, &[(&[1], 0xfffe)]),
    lane("v_and_b32", "u32: u32 u32", "S0 & S1", |_, [a, b, _]| a & b, &[(&[6, 3], 2)]),
    lane("v_or_b32", "u32: u32 u32", "S0 | S1", |_, [a, b, _]| a | b, &[(&[6, 3], 7)]),
    lane("v_xor_b32", "u32: u32 u32", "S0 ^ S1", |_, [a, b, _]| a ^ b, &[(&[6, 3], 5)]),
    lane("v_xnor_b32", "u32: u32 u32", "S0 ^ S1, every bit turned", |_, [a, b, _]| u(!(a ^ b) as i64), &[(&[6, 3], 0xffff_fffa)]),
    lane("v_and_b16", "u16: u16 u16", "S0 & S1", |_, [a, b, _]| a & b, &[(&[6, 3], 2)]),
    lane("v_or_b16", "u16: u16 u16", "S0 | S1", |_, [a, b, _]| a | b, &[(&[6, 3], 7)]),
    lane("v_xor_b16", "u16: u16 u16", "S0 ^ S1", |_, [a, b, _]| a ^ b, &[(&[6, 3], 5)]),
    lane("v_and_or_b32", "u32: u32 u32 u32", "S0 & S1 | S2", |_, [a, b, c]| a & b | c, &[(&[6, 3, 8], 10)]),
    lane("v_or3_b32", "u32: u32 u32 u32", "S0 | S1 | S2", |_, [a, b, c]| a | b | c, &[(&[1, 2, 8], 11)]),
    lane("v_xor3_b32", "u32: u32 u32 u32", "S0 ^ S1 ^ S2", |_, [a, b, c]| a ^ b ^ c, &[(&[1, 3, 8], 10)]),
    lane("v_lshl_or_b32", "u32: u32 u32 u32", "S0 << S1[4:0] | S2", |_, [a, b, c]| u((a << (b & 31)) as i64) | c, &[(&[3, 4, 1], 49)]),
    lane("v_lshlrev_b32", "u32: u32 u32", "S1 << S0[4:0]", |_, [a, b, _]| u((b << (a & 31)) as i64), &[(&[33, 3], 6)]),
    lane("v_lshrrev_b32", "u32: u32 u32", "S1 >> S0[4:0]", |_, [a, b, _]| b >> (a & 31), &[(&[1, 0x8000_0000], 0x4000_0000)]),
    lane("v_ashrrev_i32", "i32: u32 i32", "S1 >> S0[4:0], signed", |_, [a, b, _]| u(s(b) >> (a & 31)), &[(&[1, 0x8000_0000], 0xc000_0000)]),
    lane("v_lshlrev_b16", "u16: u16 u16", "S1 << S0[3:0]", |_, [a, b, _]| (b << (a & 15)) & 0xffff, &[(&[17, 3], 6)]),
    lane("v_lshrrev_b16", "u16: u16 u16", "S1 >> S0[3:0]", |_, [a, b, _]| b >> (a & 15), &[(&[1, 0x8000], 0x4000)]),
    lane("v_ashrrev_i16", "i16: u16 i16", "S1 >> S0[3:0], signed", |_, [a, b, _]| (s16(b) >> (a & 15)) as u64 & 0xffff, &[(&[1, 0x8000], 0xc000)]),
    lane("v_lshlrev_b64", "u64: u32 u64", "S1 << S0[5:0]", |_, [a, b, _]| b << (a & 63), &[(&[33, 3], 6 << 32)]),
    lane("v_lshrrev_b64", "u64: u32 u64", "S1 >> S0[5:0]", |_, [a, b, _]| b >> (a & 63), &[(&[33, 6 << 32], 3)]),
    lane("v_ashrrev_i64", "i64: u32 i64", "S1 >> S0[5:0], signed", |_, [a, b, _]| (b as i64 >> (a & 63)) as u64, &[(&[1, 1 << 63], 3 << 62)]),
    lane("v_bfe_u32", "u32: u32 u32 u32", "S2[4:0] bits of S0 from S1[4:0]", |_, [a, b, c]| a >> (b & 31) & ((1 << (c & 31)) - 1), &[(&[0xf0, 4, 3], 7)]),
    lane("v_bfe_i32", "i32: i32 u32 u32", "S2[4:0] bits of S0 from S1[4:0], signed", |_, [a, b, c]| bfe_i32(a, b & 31, c & 31), &[(&[0xf0, 4, 3], 0xffff_ffff), (&[0x70, 4, 4], 7)]),
    lane("v_bfi_b32", "u32: u32 u32 u32", "S1 where S0 has ones, else S2", |_, [a, b, c]| a & b | !a & c, &[(&[0xf, 0x35, 0x7a], 0x75)]),
    lane("v_bfm_b32", "u32: u32 u32", "S0[4:0] ones from S1[4:0]", |_, [a, b, _]| u((((1u64 << (a & 31)) - 1) << (b & 31)) as i64), &[(&[3, 2], 0x1c)]),
    lane("v_bfrev_b32", "u32: u32", "the bits in the other order", |_, [a, ..]| u64::from((a as u32).reverse_bits()), &[(&[1], 0x8000_0000)]),
    lane("v_bcnt_u32_b32", "u32: u32 u32", "the ones of S0, plus S1", |_, [a, b, _]| u((u64::from(a.count_ones()) + b) as i64), &[(&[7, 10], 13)]),
    lane("v_ffbh_u32", "u32: u32", "zeros above the highest one; -1: none", |_, [a, ..]| if a == 0 { 0xffff_ffff } else { u64::from((a as u32).leading_zeros()) }, &[(&[1], 31)]),
    lane("v_clz_i32_u32", "u32: u32", "zeros above the highest one; -1: none", |_, [a, ..]| if a == 0 { 0xffff_ffff } else { u64::from((a as u32).leading_zeros()) }, &[(&[1], 31), (&[0], 0xffff_ffff)]),
    lane("v_ctz_i32_b32", "u32: u32", "zeros below the lowest one; -1: none", |_, [a, ..]| if a == 0 { 0xffff_ffff } else { u64::from((a as u32).trailing_zeros()) }, &[(&[8], 3)]),
    lane("v_cls_i32", "u32: u32", "bits at the top that equal the sign; -1: all", |_, [a, ..]| { let x = a as u32; let y = x ^ (x as i32 >> 31) as u32; if y == 0 { 0xffff_ffff } else { u64::from(y.leading_zeros()) } }, &[(&[0xff00_0000], 8)]),
    lane("v_alignbit_b32", "u32: u32 u32 u32", "32 bits of S0:S1 from S2[4:0]", |_, [a, b, c]| u(((a << 32 | b) >> (c & 31)) as i64), &[(&[1, 0, 4], 0x1000_0000)]),
    lane("v_alignbyte_b32", "u32: u32 u32 u32", "four bytes of S0:S1 from S2[1:0]", |_, [a, b, c]| u(((a << 32 | b) >> (8 * (c & 3))) as i64), &[(&[1, 0x200, 1], 0x0100_0002)]),
    lane("v_perm_b32", "u32: u32 u32 u32", "bytes of S0:S1, S2 names each; 8 to 11 a sign, 12 zero, above ones", |_, [a, b, c]| perm(a, b, c), &[(&[0x7766_5544, 0x3322_1100, 0x0c07_0302], 0x0077_3322), (&[0x8000_0000, 0, 0x0d00_000b], 0xff00_00ff)]),
    lane("v_pack_b32_f16", "u32: f16 f16", "S0 in the low half, S1 in the high", |_, [a, b, _]| a | b << 16, &[(&[1, 2], 0x2_0001)]),
    lane("v_cndmask_b32", "u32: u32 u32 m", "S1 where the mask has a one, else S0", |_, [a, b, c]| if c == 1 { b } else { a }, &[(&[4, 5, 0], 4), (&[4, 5, 1], 5)]),
    lane("v_cndmask_b16", "u16: u16 u16 m", "S1 where the mask has a one, else S0", |_, [a, b, c]| if c == 1 { b } else { a }, &[(&[4, 5, 0], 4), (&[4, 5, 1], 5)]),
    lane("v_mbcnt_lo_u32_b32", "u32: u32 u32", "the ones of S0 below this lane, plus S1", |e, [a, b, _]| u((u64::from((a & ((1 << e.lane) - 1)).count_ones()) + b) as i64), &[(&[0xffff_ffff, 3], 3)]),
    lane("v_mbcnt_hi_u32_b32", "u32: u32 u32", "of a wave of 32, nothing: S1", |_, [_, b, _]| b, &[(&[0xffff_ffff, 3], 3)]),
    lane("v_dot4_u32_u8", "u32: u32 u32 u32", "products of four unsigned bytes, plus S2", |_, [a, b, c]| (0..4).fold(c, |all, i| u((all + (a >> (8 * i) & 255) * (b >> (8 * i) & 255)) as i64)), &[(&[0x0102_0304, 0x0101_0101, 5], 15)]),
    lane("v_lerp_u8", "u32: u32 u32 u32", "the mean of each byte of S0 and S1, rounded up where S2 is odd", |_, [a, b, c]| (0..4).fold(0, |all, i| all | (((a >> (8 * i) & 255) + (b >> (8 * i) & 255) + (c >> (8 * i) & 1)) >> 1) << (8 * i)), &[(&[3, 4, 1], 4), (&[3, 4, 0], 3)]),
];

fn bfe_i32(a: u64, from: u64, width: u64) -> u64 {
    if width == 0 {
        return 0;
    }
    let top = (32u64.saturating_sub(from + width)) as u32;
    u((i64::from((a as i32) << top >> top)) >> from)
}
