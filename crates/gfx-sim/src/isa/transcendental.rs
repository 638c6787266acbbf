//! The vector unit's functions. The hardware's are within one unit in the last place or two; these are the exact results, rounded.

use super::{Env, Row, f, lane};

/// Through f64. Denormals follow MODE for the reciprocal and the roots.
fn exact(e: Env, a: u64, of: fn(f64) -> f64) -> u64 {
    e.mode.put(of(f64::from(e.mode.f32(a))) as f32)
}

/// The same for those that know no denormals, whatever MODE says (LLVM scales their operands for that reason).
fn flushed(a: u64, of: fn(f64) -> f64) -> u64 {
    let flush = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
    let x = flush(f32::from_bits(a as u32));
    u64::from(flush(of(f64::from(x)) as f32).to_bits())
}

#[rustfmt::skip] // a table reads by columns
pub(super) const ROWS: &[Row] = &[
    lane("v_rcp_f32", "f32: f32", "1 / S0", |e, [a, ..]| exact(e, a, f64::recip), &[(&[f(4.0)], f(0.25)), (&[f(0.0)], f(f32::INFINITY))]),
    lane("v_rcp_iflag_f32", "f32: f32", "1 / S0, for integer division", |e, [a, ..]| exact(e, a, f64::recip), &[(&[f(4.0)], f(0.25))]),
    lane("v_rsq_f32", "f32: f32", "1 / sqrt(S0)", |e, [a, ..]| exact(e, a, |x| 1.0 / x.sqrt()), &[(&[f(4.0)], f(0.5))]),
    lane("v_sqrt_f32", "f32: f32", "sqrt(S0)", |e, [a, ..]| exact(e, a, f64::sqrt), &[(&[f(4.0)], f(2.0))]),
    lane("v_exp_f32", "f32: f32", "2^S0; denormals are zero", |_, [a, ..]| flushed(a, f64::exp2), &[(&[f(3.0)], f(8.0)), (&[f(-140.0)], 0)]),
    lane("v_log_f32", "f32: f32", "the binary logarithm of S0; denormals are zero", |_, [a, ..]| flushed(a, f64::log2), &[(&[f(8.0)], f(3.0)), (&[1], f(f32::NEG_INFINITY))]),
    lane("v_sin_f32", "f32: f32", "the sine of 2 pi S0", |e, [a, ..]| exact(e, a, |x| (x * std::f64::consts::TAU).sin()), &[(&[f(0.25)], f(1.0))]),
    lane("v_cos_f32", "f32: f32", "the cosine of 2 pi S0", |e, [a, ..]| exact(e, a, |x| (x * std::f64::consts::TAU).cos()), &[(&[f(0.5)], f(-1.0))]),
    lane("v_s_rcp_f32", "f32: f32", "1 / S0 of a scalar register", |e, [a, ..]| exact(e, a, f64::recip), &[(&[f(4.0)], f(0.25))]),
    lane("v_s_rsq_f32", "f32: f32", "1 / sqrt(S0) of a scalar register", |e, [a, ..]| exact(e, a, |x| 1.0 / x.sqrt()), &[(&[f(4.0)], f(0.5))]),
    lane("v_s_sqrt_f32", "f32: f32", "sqrt(S0) of a scalar register", |e, [a, ..]| exact(e, a, f64::sqrt), &[(&[f(4.0)], f(2.0))]),
    lane("v_s_exp_f32", "f32: f32", "2^S0 of a scalar register", |_, [a, ..]| flushed(a, f64::exp2), &[(&[f(3.0)], f(8.0))]),
    lane("v_s_log_f32", "f32: f32", "the binary logarithm of a scalar register", |_, [a, ..]| flushed(a, f64::log2), &[(&[f(8.0)], f(3.0))]),
    lane("v_tanh_f32", "f32: f32", "the hyperbolic tangent of S0", |e, [a, ..]| exact(e, a, f64::tanh), &[(&[f(0.0)], 0)]),
];
