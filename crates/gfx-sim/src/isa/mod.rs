//! The table of opcodes: what each does to one lane, with its operands' types and an example.
//!
//! A row's signature says what is read and written: `f32: f32 f32` makes an f32 of two. The letters are the type (`u` bits or unsigned, `i`
//! signed, `f` floating) and the width; `m` is a lane mask in a scalar register, of which a lane has its bit; `d` is the destination's old
//! value; `vcc` is the lane's bit of VCC, which no operand names. `f32+m` writes a mask beside the value.
//!
//! Sources of the rules: AMD's "RDNA3" and "RDNA4 Instruction Set Architecture" reference guides, chapters "Instructions".

mod compare;
mod convert;
mod half_float;
mod integer;
mod packed;
mod scalar;
mod scalar_compare;
mod single;
mod transcendental;
mod wide;

pub(crate) use compare::Comparison;
pub(crate) use packed::Mixed;
pub(crate) use scalar_compare::scalar_comparison;

use crate::number::Mode;
use std::collections::HashMap;
use std::sync::OnceLock;

/// What an operation sees beside its operands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Env {
    pub(crate) mode: Mode,
    pub(crate) lane: u32,
    /// The lane's bit of VCC, of a signature that ends with `vcc`.
    pub(crate) vcc: bool,
}

/// Sources in, result out; of a result with a mask, the mask is beside it.
pub(crate) type Lane = fn(Env, [u64; 3]) -> u64;
pub(crate) type LaneAndMask = fn(Env, [u64; 3]) -> (u64, bool);
/// The same of the scalar unit: the second is SCC, which also comes in.
pub(crate) type Scalar = fn(Mode, [u64; 3], bool) -> (u64, bool);

#[derive(Debug, Clone, Copy)]
pub(crate) enum Run {
    Lane(Lane),
    LaneAndMask(LaneAndMask),
    /// On each half of packed registers.
    Packed(Lane),
    Scalar(Scalar),
}

/// Inputs and the result: for a test of the row, and for its reader.
pub(crate) type Example = (&'static [u64], u64);

/// One opcode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) signature: &'static str,
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "it is for readers and for the test that every row has one")
    )]
    pub(crate) doc: &'static str,
    pub(crate) run: Run,
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests run it"))]
    pub(crate) examples: &'static [Example],
}

const fn lane(
    name: &'static str,
    signature: &'static str,
    doc: &'static str,
    run: Lane,
    examples: &'static [Example],
) -> Row {
    Row { name, signature, doc, run: Run::Lane(run), examples }
}

const fn masked(
    name: &'static str,
    signature: &'static str,
    doc: &'static str,
    run: LaneAndMask,
    examples: &'static [Example],
) -> Row {
    Row { name, signature, doc, run: Run::LaneAndMask(run), examples }
}

const fn packed_row(
    name: &'static str,
    signature: &'static str,
    doc: &'static str,
    run: Lane,
    examples: &'static [Example],
) -> Row {
    Row { name, signature, doc, run: Run::Packed(run), examples }
}

const fn scalar_row(
    name: &'static str,
    signature: &'static str,
    doc: &'static str,
    run: Scalar,
    examples: &'static [Example],
) -> Row {
    Row { name, signature, doc, run: Run::Scalar(run), examples }
}

/// The bits of an f32, for examples.
const fn f(x: f32) -> u64 {
    x.to_bits() as u64
}

/// The bits of an f64, for examples.
const fn d(x: f64) -> u64 {
    x.to_bits()
}

/// Every row.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    let tables: [&'static [Row]; 10] = [
        integer::ROWS,
        integer::BIT_ROWS,
        single::ROWS,
        half_float::ROWS,
        wide::ROWS,
        transcendental::ROWS,
        convert::ROWS,
        packed::ROWS,
        scalar::ROWS,
        scalar::FLOAT_ROWS,
    ];
    tables.into_iter().flatten()
}

/// The row of an opcode, by its name without the encoding's suffix.
pub(crate) fn row(name: &str) -> Option<&'static Row> {
    static INDEX: OnceLock<HashMap<&'static str, &'static Row>> = OnceLock::new();
    INDEX.get_or_init(|| rows().map(|row| (row.name, row)).collect()).get(canonical(name)).copied()
}

/// gfx12 has renamed opcodes without a change of what they do.
fn canonical(name: &str) -> &str {
    const RENAMED: &[(&str, &str)] = &[
        ("v_max_num_f32", "v_max_f32"),
        ("v_min_num_f32", "v_min_f32"),
        ("v_max3_num_f32", "v_max3_f32"),
        ("v_min3_num_f32", "v_min3_f32"),
        ("v_med3_num_f32", "v_med3_f32"),
        ("v_maxmin_num_f32", "v_maxmin_f32"),
        ("v_minmax_num_f32", "v_minmax_f32"),
        ("v_max_num_f16", "v_max_f16"),
        ("v_min_num_f16", "v_min_f16"),
        ("v_max_num_f64", "v_max_f64"),
        ("v_min_num_f64", "v_min_f64"),
        ("v_pk_max_num_f16", "v_pk_max_f16"),
        ("v_pk_min_num_f16", "v_pk_min_f16"),
        ("v_cvt_pk_rtz_f16_f32", "v_cvt_pkrtz_f16_f32"),
        ("v_mad_co_u64_u32", "v_mad_u64_u32"),
        ("v_mad_co_i64_i32", "v_mad_i64_i32"),
        ("s_add_co_i32", "s_add_i32"),
        ("s_sub_co_i32", "s_sub_i32"),
        ("s_add_co_u32", "s_add_u32"),
        ("s_sub_co_u32", "s_sub_u32"),
        ("s_add_co_ci_u32", "s_addc_u32"),
        ("s_sub_co_ci_u32", "s_subb_u32"),
        ("s_addk_co_i32", "s_addk_i32"),
        ("s_max_num_f32", "s_max_f32"),
        ("s_min_num_f32", "s_min_f32"),
    ];
    RENAMED.iter().find(|(new, _)| *new == name).map_or(name, |(_, old)| old)
}

#[cfg(test)]
mod tests;
