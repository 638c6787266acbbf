//! The arithmetic classes: every opcode beside the same in plain Rust.

use crate::sequences::{Class, Opcode, TARGETS, check};
use gfx::Target;
use half::f16;

fn identical(a: u64, b: u64) -> bool {
    a == b
}

fn s(x: u64) -> i32 {
    x as i32
}

fn u(x: i32) -> u64 {
    u64::from(x as u32)
}

#[rustfmt::skip] // a table reads by columns
const INTEGER: &[Opcode] = &[
    ("v_add_nc_u32 D, A, B", 2, |a, b, _| u64::from((a as u32).wrapping_add(b as u32))),
    ("v_sub_nc_u32 D, A, B", 2, |a, b, _| u64::from((a as u32).wrapping_sub(b as u32))),
    ("v_subrev_nc_u32 D, A, B", 2, |a, b, _| u64::from((b as u32).wrapping_sub(a as u32))),
    ("v_add3_u32 D, A, B, C", 3, |a, b, c| u64::from((a as u32).wrapping_add(b as u32).wrapping_add(c as u32))),
    ("v_mul_lo_u32 D, A, B", 2, |a, b, _| u64::from((a as u32).wrapping_mul(b as u32))),
    ("v_mul_hi_u32 D, A, B", 2, |a, b, _| ((u128::from(a) * u128::from(b)) >> 32) as u64),
    ("v_mul_hi_i32 D, A, B", 2, |a, b, _| u(((i128::from(s(a)) * i128::from(s(b))) >> 32) as i32)),
    ("v_mad_u32_u24 D, A, B, C", 3, |a, b, c| u64::from(((a as u32) << 8 >> 8).wrapping_mul((b as u32) << 8 >> 8).wrapping_add(c as u32))),
    ("v_and_b32 D, A, B", 2, |a, b, _| a & b),
    ("v_or_b32 D, A, B", 2, |a, b, _| a | b),
    ("v_xor_b32 D, A, B", 2, |a, b, _| a ^ b),
    ("v_not_b32 D, A", 1, |a, _, _| a ^ 0xffff_ffff),
    ("v_or3_b32 D, A, B, C", 3, |a, b, c| a | b | c),
    ("v_and_or_b32 D, A, B, C", 3, |a, b, c| (a & b) | c),
    ("v_lshl_or_b32 D, A, B, C", 3, |a, b, c| u64::from((a as u32).wrapping_shl(b as u32)) | c),
    ("v_lshl_add_u32 D, A, B, C", 3, |a, b, c| u64::from((a as u32).wrapping_shl(b as u32).wrapping_add(c as u32))),
    ("v_lshlrev_b32 D, A, B", 2, |a, b, _| u64::from((b as u32).wrapping_shl(a as u32))),
    ("v_lshrrev_b32 D, A, B", 2, |a, b, _| u64::from((b as u32).wrapping_shr(a as u32))),
    ("v_ashrrev_i32 D, A, B", 2, |a, b, _| u(s(b).wrapping_shr(a as u32))),
    ("v_bfe_u32 D, A, 5, 11", 1, |a, _, _| (a / 32) % 2048),
    ("v_bfe_i32 D, A, 3, 9", 1, |a, _, _| { let x = ((a / 8) % 512) as i32; u(if x >= 256 { x - 512 } else { x }) }),
    ("v_bfi_b32 D, A, B, C", 3, |a, b, c| (0..32).map(|i| if a >> i & 1 == 1 { b >> i & 1 } else { c >> i & 1 } << i).sum()),
    ("v_alignbit_b32 D, A, B, 7", 2, |a, b, _| u64::from((a as u32) << 25 | (b as u32) >> 7)),
    // Selector 0 to 3 is of B, 4 to 7 of A: bytes 0 of B, 7 of A, 4 of A, 1 of B.
    ("v_perm_b32 D, A, B, 0x01040700", 2, |a, b, _| b % 256 + (a >> 24) * 256 + a % 256 * 65_536 + (b >> 8) % 256 * 16_777_216),
    ("v_bfrev_b32 D, A", 1, |a, _, _| (0..32).map(|i| (a >> i & 1) << (31 - i)).sum()),
    ("v_bcnt_u32_b32 D, A, B", 2, |a, b, _| u64::from(((0..32).filter(|i| a >> i & 1 == 1).count() as u32).wrapping_add(b as u32))),
    ("v_min_i32 D, A, B", 2, |a, b, _| if s(a) < s(b) { a } else { b }),
    ("v_max_i32 D, A, B", 2, |a, b, _| if s(a) > s(b) { a } else { b }),
    ("v_min_u32 D, A, B", 2, |a, b, _| if a < b { a } else { b }),
    ("v_max_u32 D, A, B", 2, |a, b, _| if a > b { a } else { b }),
    ("v_med3_i32 D, A, B, C", 3, |a, b, c| { let mut x = [s(a), s(b), s(c)]; x.sort_unstable(); u(x[1]) }),
    ("v_sad_u32 D, A, B, C", 3, |a, b, c| u64::from((a.abs_diff(b) as u32).wrapping_add(c as u32))),
];

#[test]
fn integers() {
    let class = Class {
        name: "integers",
        opcodes: INTEGER,
        words: 1,
        file: 'v',
        input: |bits| bits & 0xffff_ffff,
        same: identical,
        targets: &TARGETS,
    };
    check(&class);
}

fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn bits(x: f32) -> u64 {
    u64::from(x.to_bits())
}

fn same_f32(a: u64, b: u64) -> bool {
    a == b || f(a).is_nan() && f(b).is_nan()
}

/// Small numbers mostly, and every sixteenth anything at all.
fn float_input(random: u64) -> u64 {
    match random >> 60 {
        0 => random & 0xffff_ffff,
        _ => bits((random as i32) as f32 / 65_536.0),
    }
}

/// Neither of two zeros, nor of a NaN and a number, is any wrong: these are the numbers of the comparison itself.
fn larger(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a > b || a == b && b.is_sign_negative() => a,
        _ => b,
    }
}

#[rustfmt::skip]
const SINGLE: &[Opcode] = &[
    ("v_add_f32 D, A, B", 2, |a, b, _| bits(f(a) + f(b))),
    ("v_sub_f32 D, A, B", 2, |a, b, _| bits(f(a) - f(b))),
    ("v_subrev_f32 D, A, B", 2, |a, b, _| bits(f(b) - f(a))),
    ("v_mul_f32 D, A, B", 2, |a, b, _| bits(f(a) * f(b))),
    ("v_mul_f32_e64 D, -A, |B|", 2, |a, b, _| bits(-f(a) * f(b).abs())),
    ("v_fma_f32 D, A, B, C", 3, |a, b, c| bits(f(a).mul_add(f(b), f(c)))),
    ("v_fma_f32 D, -A, B, -|C|", 3, |a, b, c| bits((-f(a)).mul_add(f(b), -f(c).abs()))),
    ("v_max_f32 D, A, B", 2, |a, b, _| bits(larger(f(a), f(b)))),
    ("v_min_f32 D, A, B", 2, |a, b, _| bits(-larger(-f(a), -f(b)))),
    ("v_floor_f32 D, A", 1, |a, _, _| bits(f(a).floor())),
    ("v_ceil_f32 D, A", 1, |a, _, _| bits(f(a).ceil())),
    ("v_trunc_f32 D, A", 1, |a, _, _| bits(f(a).trunc())),
    ("v_rndne_f32 D, A", 1, |a, _, _| bits(f(a).round_ties_even())),
    // Denormals are on, so that the output modifier is ignored.
    ("v_mul_f32_e64 D, A, 0.5 mul:4", 1, |a, _, _| bits(f(a) * 0.5)),
    ("v_add_f32_e64 D, A, B clamp", 2, |a, b, _| { let x = f(a) + f(b); bits(if x > 0.0 { x.min(1.0) } else { 0.0 }) }),
    ("v_fmaak_f32 D, A, B, 0x3fc00000", 2, |a, b, _| bits(f(a).mul_add(f(b), 1.5))),
    ("v_fmamk_f32 D, A, 0x3fc00000, B", 2, |a, b, _| bits(f(a).mul_add(1.5, f(b)))),
];

#[test]
fn single_precision() {
    check(&Class {
        name: "single precision",
        opcodes: SINGLE,
        words: 1,
        file: 'v',
        input: float_input,
        same: same_f32,
        targets: &TARGETS,
    });
}

fn h(x: u64) -> f32 {
    f16::from_bits(x as u16).to_f32()
}

fn half_bits(x: f32) -> u64 {
    u64::from(f16::from_f32(x).to_bits())
}

fn same_f16(a: u64, b: u64) -> bool {
    let (a, b) = (a & 0xffff, b & 0xffff);
    a == b || f16::from_bits(a as u16).is_nan() && f16::from_bits(b as u16).is_nan()
}

/// Sums and products of halves in f32 are exact enough that rounding them again is right (24 >= 2 * 11 + 2). The high half is kept.
macro_rules! half_op {
    ($text:literal, $sources:literal, $f:expr) => {
        ($text, $sources, |a, b, c| {
            let g: fn(f32, f32, f32) -> f32 = $f;
            half_bits(g(h(a), h(b), h(c)))
        })
    };
}

#[rustfmt::skip]
const HALF: &[Opcode] = &[
    half_op!("v_add_f16 D, A, B", 2, |a, b, _| a + b),
    half_op!("v_sub_f16 D, A, B", 2, |a, b, _| a - b),
    half_op!("v_mul_f16 D, A, B", 2, |a, b, _| a * b),
    half_op!("v_floor_f16 D, A", 1, |a, _, _| a.floor()),
    half_op!("v_ceil_f16 D, A", 1, |a, _, _| a.ceil()),
    half_op!("v_trunc_f16 D, A", 1, |a, _, _| a.trunc()),
    half_op!("v_rndne_f16 D, A", 1, |a, _, _| a.round_ties_even()),
    half_op!("v_max_num_f16 D, A, B", 2, larger_of),
    half_op!("v_mul_f16_e64 D, -A, |B|", 2, |a, b, _| -a * b.abs()),
];

fn larger_of(a: f32, b: f32, _: f32) -> f32 {
    larger(a, b)
}

fn half_input(random: u64) -> u64 {
    match random >> 60 {
        0 => random & 0xffff,
        _ => half_bits((random as i16) as f32 / 256.0),
    }
}

#[test]
fn half_precision() {
    // gfx1100's assembler wants halves named; gfx1201 takes whole registers.
    check(&Class {
        name: "half precision",
        opcodes: HALF,
        words: 1,
        file: 'v',
        input: half_input,
        same: same_f16,
        targets: &[Target::Gfx1201],
    });
}

fn d(x: u64) -> f64 {
    f64::from_bits(x)
}

#[rustfmt::skip]
const DOUBLE: &[Opcode] = &[
    ("v_add_f64 D, A, B", 2, |a, b, _| (d(a) + d(b)).to_bits()),
    ("v_mul_f64 D, A, B", 2, |a, b, _| (d(a) * d(b)).to_bits()),
    ("v_mul_f64 D, -A, |B|", 2, |a, b, _| (-d(a) * d(b).abs()).to_bits()),
    ("v_fma_f64 D, A, B, C", 3, |a, b, c| d(a).mul_add(d(b), d(c)).to_bits()),
    ("v_floor_f64 D, A", 1, |a, _, _| d(a).floor().to_bits()),
    ("v_trunc_f64 D, A", 1, |a, _, _| d(a).trunc().to_bits()),
    ("v_rndne_f64 D, A", 1, |a, _, _| d(a).round_ties_even().to_bits()),
    ("v_fma_f64 D, A, 0.5, B", 2, |a, b, _| d(a).mul_add(0.5, d(b)).to_bits()),
    ("v_add_f64 D, A, 0x40240000", 1, |a, _, _| (d(a) + 10.0).to_bits()),
    ("v_cvt_f64_i32 D, X", 1, |a, _, _| f64::from(a as i32).to_bits()),
];

#[test]
fn double_precision() {
    let same = |a: u64, b: u64| a == b || d(a).is_nan() && d(b).is_nan();
    let input = |random: u64| {
        if random >> 60 == 0 { random } else { ((random as i64 >> 20) as f64 / 65_536.0).to_bits() }
    };
    check(&Class {
        name: "double precision",
        opcodes: DOUBLE,
        words: 2,
        file: 'v',
        input,
        same,
        targets: &TARGETS,
    });
}

#[rustfmt::skip]
const WIDE: &[Opcode] = &[
    ("v_lshlrev_b64 D, 9, A", 1, |a, _, _| a << 9),
    ("v_lshrrev_b64 D, 9, A", 1, |a, _, _| a >> 9),
    ("v_ashrrev_i64 D, 9, A", 1, |a, _, _| ((a as i64) >> 9) as u64),
    ("v_mad_u64_u32 D, null, X, Y, A", 2, |a, b, _| ((u128::from(a & 0xffff_ffff) * u128::from(b & 0xffff_ffff) + u128::from(a)) & u128::from(u64::MAX)) as u64),
    ("v_mad_i64_i32 D, null, X, Y, B", 2, |a, b, _| (i128::from(a as i32) * i128::from(b as i32) + i128::from(b as i64)) as u64),
];

#[test]
fn integers_of_64_bits() {
    check(&Class {
        name: "64 bits",
        opcodes: WIDE,
        words: 2,
        file: 'v',
        input: |random| random,
        same: identical,
        targets: &TARGETS,
    });
}

fn both(a: u64, b: u64, f: fn(u16, u16) -> u16) -> u64 {
    u64::from(f(a as u16, b as u16)) | u64::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

#[rustfmt::skip]
const PACKED: &[Opcode] = &[
    ("v_pk_add_u16 D, A, B", 2, |a, b, _| both(a, b, u16::wrapping_add)),
    ("v_pk_sub_i16 D, A, B", 2, |a, b, _| both(a, b, u16::wrapping_sub)),
    ("v_pk_mul_lo_u16 D, A, B", 2, |a, b, _| both(a, b, u16::wrapping_mul)),
    ("v_pk_min_u16 D, A, B", 2, |a, b, _| both(a, b, u16::min)),
    ("v_pk_max_i16 D, A, B", 2, |a, b, _| both(a, b, |x, y| (x as i16).max(y as i16) as u16)),
    ("v_pk_lshlrev_b16 D, A, B", 2, |a, b, _| both(a, b, |x, y| y << (x & 15))),
    ("v_pk_ashrrev_i16 D, A, B", 2, |a, b, _| both(a, b, |x, y| ((y as i16) >> (x & 15)) as u16)),
    ("v_pk_add_u16 D, A, B op_sel:[1,0] op_sel_hi:[0,1]", 2, |a, b, _| both((a >> 16 | a << 16) & 0xffff_ffff, b, u16::wrapping_add)),
    ("v_pk_add_u16 D, A, 7 op_sel_hi:[1,0]", 1, |a, _, _| both(a, 0x7_0007, u16::wrapping_add)),
];

#[test]
fn packed_halves() {
    check(&Class {
        name: "packed",
        opcodes: PACKED,
        words: 1,
        file: 'v',
        input: |random| random & 0xffff_ffff,
        same: identical,
        targets: &TARGETS,
    });
}

#[rustfmt::skip]
const CONVERSIONS: &[Opcode] = &[
    ("v_cvt_f32_i32 D, A", 1, |a, _, _| bits(a as i32 as f32)),
    ("v_cvt_f32_u32 D, A", 1, |a, _, _| bits(a as u32 as f32)),
    ("v_cvt_i32_f32 D, A", 1, |a, _, _| u64::from(f(a) as i32 as u32)),
    ("v_cvt_u32_f32 D, A", 1, |a, _, _| u64::from(f(a) as u32)),
    ("v_cvt_f32_ubyte0 D, A", 1, |a, _, _| bits(f32::from(a as u8))),
    ("v_cvt_f32_ubyte3 D, A", 1, |a, _, _| bits(f32::from((a >> 24) as u8))),
    ("v_cvt_pk_u16_u32 D, A, B", 2, |a, b, _| a.min(65_535) + 65_536 * b.min(65_535)),
];

#[test]
fn conversions() {
    check(&Class {
        name: "conversions",
        opcodes: CONVERSIONS,
        words: 1,
        file: 'v',
        input: float_input,
        same: same_f32,
        targets: &TARGETS,
    });
}

#[rustfmt::skip]
const COMPARISONS: &[Opcode] = &[
    ("v_cmp_lt_i32 vcc_lo, A, B\nv_cndmask_b32 D, A, C, vcc_lo", 3, |a, b, c| if s(a) < s(b) { c } else { a }),
    ("v_cmp_ge_u32 vcc_lo, A, B\nv_cndmask_b32 D, A, C, vcc_lo", 3, |a, b, c| if a >= b { c } else { a }),
    ("v_cmp_ne_u32 s30, A, B\nv_cndmask_b32 D, A, C, s30", 3, |a, b, c| if a == b { a } else { c }),
    ("v_cmp_gt_f32 vcc_lo, A, B\nv_cndmask_b32 D, A, C, vcc_lo", 3, |a, b, c| if f(a) > f(b) { c } else { a }),
    ("v_cmp_nlt_f32 vcc_lo, A, B\nv_cndmask_b32 D, A, C, vcc_lo", 3, |a, b, c| if f(a) < f(b) { a } else { c }),
    ("v_cmp_u_f32 vcc_lo, A, B\nv_cndmask_b32 D, A, C, vcc_lo", 3, |a, b, c| if f(a).is_nan() || f(b).is_nan() { c } else { a }),
    ("v_add_co_u32 D, vcc_lo, A, B", 2, |a, b, _| (a + b) & 0xffff_ffff),
    ("s_mov_b32 s31, exec_lo\nv_mov_b32 v30, A\nv_cmpx_lt_u32 B, C\nv_mov_b32 v30, C\ns_mov_b32 exec_lo, s31\nv_mov_b32 D, v30", 3, |a, b, c| if b < c { c } else { a }),
];

#[test]
fn comparisons_and_exec() {
    check(&Class {
        name: "comparisons",
        opcodes: COMPARISONS,
        words: 1,
        file: 'v',
        input: float_input,
        same: identical,
        targets: &TARGETS,
    });
}

#[rustfmt::skip]
const SCALAR: &[Opcode] = &[
    ("s_add_i32 D, A, B", 2, |a, b, _| u(s(a).wrapping_add(s(b)))),
    ("s_sub_i32 D, A, B", 2, |a, b, _| u(s(a).wrapping_sub(s(b)))),
    ("s_mul_i32 D, A, B", 2, |a, b, _| u(s(a).wrapping_mul(s(b)))),
    ("s_mul_hi_u32 D, A, B", 2, |a, b, _| ((u128::from(a) * u128::from(b)) >> 32) as u64),
    ("s_and_b32 D, A, B", 2, |a, b, _| a & b),
    ("s_or_not1_b32 D, A, B", 2, |a, b, _| a | b ^ 0xffff_ffff),
    ("s_xor_b32 D, A, B", 2, |a, b, _| a ^ b),
    ("s_not_b32 D, A", 1, |a, _, _| a ^ 0xffff_ffff),
    ("s_lshl_b32 D, A, B", 2, |a, b, _| u64::from((a as u32).wrapping_shl(b as u32))),
    ("s_ashr_i32 D, A, B", 2, |a, b, _| u(s(a).wrapping_shr(b as u32))),
    ("s_bfe_u32 D, A, 0xb0005", 1, |a, _, _| (a / 32) % 2048),
    ("s_min_i32 D, A, B", 2, |a, b, _| if s(a) < s(b) { a } else { b }),
    ("s_max_u32 D, A, B", 2, |a, b, _| a.max(b)),
    ("s_abs_i32 D, A", 1, |a, _, _| u(s(a).wrapping_abs())),
    ("s_cmp_lt_i32 A, B\ns_cselect_b32 D, B, C", 3, |a, b, c| if s(a) < s(b) { b } else { c }),
    ("s_cmp_lg_u32 A, B\ns_cselect_b32 D, B, C", 3, |a, b, c| if a == b { c } else { b }),
    ("s_add_u32 s30, A, B\ns_addc_u32 D, C, 0", 3, |a, b, c| (c + (a + b) / (1 << 32)) & 0xffff_ffff),
    ("s_bcnt1_i32_b32 D, A", 1, |a, _, _| (0..32).map(|i| a >> i & 1).sum()),
    ("s_ctz_i32_b32 D, A", 1, |a, _, _| (0..32).find(|i| a >> i & 1 == 1).unwrap_or(0xffff_ffff)),
    ("s_sext_i32_i16 D, A", 1, |a, _, _| u(i32::from(a as u16 as i16))),
    ("s_pack_lh_b32_b16 D, A, B", 2, |a, b, _| a % 65_536 + b / 65_536 * 65_536),
    ("s_lshl3_add_u32 D, A, B", 2, |a, b, _| (8 * a + b) & 0xffff_ffff),
    ("s_mov_b32 s30, A\ns_cmp_eq_u32 A, B\ns_cbranch_scc1 1\ns_add_u32 s30, s30, C\ns_mov_b32 D, s30", 3, |a, b, c| if a == b { a } else { (a + c) & 0xffff_ffff }),
];

#[test]
fn scalars() {
    check(&Class {
        name: "scalars",
        opcodes: SCALAR,
        words: 1,
        file: 's',
        input: |random| random & 0xffff_ffff,
        same: identical,
        targets: &TARGETS,
    });
}

#[rustfmt::skip]
const SCALAR_FLOAT: &[Opcode] = &[
    ("s_add_f32 D, A, B", 2, |a, b, _| bits(f(a) + f(b))),
    ("s_sub_f32 D, A, B", 2, |a, b, _| bits(f(a) - f(b))),
    ("s_mul_f32 D, A, B", 2, |a, b, _| bits(f(a) * f(b))),
    ("s_fmamk_f32 D, A, 0x40400000, B", 2, |a, b, _| bits(f(a).mul_add(3.0, f(b)))),
    ("s_floor_f32 D, A", 1, |a, _, _| bits(f(a).floor())),
    ("s_cvt_f32_i32 D, A", 1, |a, _, _| bits(a as i32 as f32)),
    ("s_cvt_i32_f32 D, A", 1, |a, _, _| u64::from(f(a) as i32 as u32)),
];

#[test]
fn scalar_floats() {
    check(&Class {
        name: "scalar floats",
        opcodes: SCALAR_FLOAT,
        words: 1,
        file: 's',
        input: float_input,
        same: same_f32,
        targets: &[Target::Gfx1201],
    });
}
