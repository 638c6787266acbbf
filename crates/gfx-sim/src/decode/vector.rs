//! Vector instructions: VOP1, VOP2, VOP3, VOPC, VOP3P, VOPD, DPP.

use super::operands::{
    Signature, Type, at, input, nothing, old_value, output, scalar_register, vector_register, word,
};
use super::{Decoded, Generation, matrix};
use crate::instruction::{Across, Compute, Dpp, Finish, Input, Op, Output, Source, Vector};
use crate::isa::{Comparison, Mixed, Run, row};
use crate::operand::scalar;
use crate::text::{Words, integer};

pub(super) fn vector(words: &Words<'_>, generation: Generation) -> Decoded<Op> {
    let name = bare(words.mnemonic);
    if name == "v_nop" {
        return Ok(Op::Hint);
    }
    if name.starts_with("v_wmma") || name.starts_with("v_swmmac") {
        return matrix::matrix(name, words, generation);
    }
    if let Some(op) = across(name, words) {
        return op.map(Op::Across);
    }
    let mut vector = lanewise(name, words)?;
    vector.dpp = dpp(words)?.map(Box::new);
    Ok(Op::Vector(Box::new(vector)))
}

/// `v_dual_mov_b32 … :: v_dual_add_f32 …`.
pub(super) fn dual(first: &Words<'_>, second: &Words<'_>) -> Decoded<Op> {
    let half = |words: &Words<'_>| {
        let name = words.mnemonic.replacen("v_dual_", "v_", 1);
        let mut words = words.clone();
        if name == "v_cndmask_b32" && words.operands.len() == 3 {
            words.operands.push("vcc_lo");
        }
        lanewise(&name, &words)
    };
    Ok(Op::Dual(Box::new([half(first)?, half(second)?])))
}

/// Without the suffix that names the encoding.
fn bare(mnemonic: &str) -> &str {
    let name = mnemonic.trim_end_matches("_dpp").trim_end_matches("_dpp8");
    name.strip_suffix("_e32").or(name.strip_suffix("_e64")).unwrap_or(name)
}

fn lanewise(name: &str, words: &Words<'_>) -> Decoded<Vector> {
    if let Some(comparison) =
        name.strip_prefix("v_cmpx_").or(name.strip_prefix("v_cmp_")).and_then(Comparison::parse)
    {
        return compare(name, comparison, words);
    }
    if let Some(mixed) = Mixed::parse(name) {
        return fma_mix(mixed, words);
    }
    let row = row(name).ok_or_else(|| name.to_owned())?;
    let signature = Signature::parse(row.signature);
    match row.run {
        Run::Lane(run) => plain(Compute::Lane(run), name, &signature, words),
        Run::LaneAndMask(run) => plain(Compute::LaneAndMask(run), name, &signature, words),
        Run::Packed(run) => packed(Compute::Packed(run), &signature, words),
        Run::Scalar(_) => Err(name.to_owned()),
    }
}

fn plain(compute: Compute, name: &str, signature: &Signature, words: &Words<'_>) -> Decoded<Vector> {
    let of = signature.output.ok_or_else(|| name.to_owned())?;
    let operands = &words.operands;
    let op_sel = words.bits("op_sel").unwrap_or(0);
    // The destination's half is the last bit of op_sel, which has one bit a source and one more.
    let op_sel_high = words.modifier("op_sel").is_some_and(|bits| bits.trim_end_matches(']').ends_with('1'));
    let byte = words.modifier("byte_sel").and_then(integer).unwrap_or(0) as u8;
    let written = match of.bits {
        8 => {
            Output::VectorByte(vector_register(at(operands, 0)?)?, byte.max(if op_sel_high { 2 } else { 0 }))
        }
        _ => output(at(operands, 0)?, of, op_sel_high)?,
    };
    let mut next = 1;
    let mut mask = Output::Nowhere;
    if signature.mask {
        mask = output(at(operands, next)?, Type { kind: 'm', bits: 32 }, false)?;
        next += 1;
    }
    let mut inputs = nothing();
    for (i, of) in signature.inputs.iter().enumerate() {
        if of.kind == 'd' {
            inputs[i] = old_value(written);
            continue;
        }
        let text = match operands.get(next) {
            Some(text) => text,
            // e32 encodings of older names leave the mask out.
            None if of.kind == 'm' => "vcc_lo",
            None => return Err(format!("{name} with {} operands", operands.len())),
        };
        inputs[i] = input(text, *of, op_sel >> i & 1 != 0)?;
        if of.bits == 8 {
            inputs[i].source = byte_of(inputs[i].source, byte);
        }
        next += 1;
    }
    Ok(Vector {
        compute,
        inputs,
        high: nothing(),
        count: signature.inputs.len(),
        output: written,
        mask,
        reads_vcc: signature.vcc,
        finish: finish(words, of)?,
        width: of.bits,
        dpp: None,
    })
}

fn byte_of(source: Source, byte: u8) -> Source {
    match source {
        Source::VectorHalf(register, high) => {
            Source::VectorByte(register, byte.max(if high { 2 } else { 0 }))
        }
        Source::ScalarHalf(register, _) => Source::Scalar(register),
        other => other,
    }
}

fn finish(words: &Words<'_>, of: Type) -> Decoded<Finish> {
    let factor = match (words.modifier("mul"), words.modifier("div")) {
        (Some("2"), _) => 2.0,
        (Some("4"), _) => 4.0,
        (_, Some("2")) => 0.5,
        _ => 0.0,
    };
    let clamp = words.has("clamp");
    if (clamp || factor != 0.0) && of.kind != 'f' {
        return Err(format!("{} with clamp", words.mnemonic));
    }
    Ok(Finish { factor, clamp })
}

fn compare(name: &str, comparison: Comparison, words: &Words<'_>) -> Decoded<Vector> {
    let signature = Signature::parse(comparison.operands());
    let op_sel = words.bits("op_sel").unwrap_or(0);
    let mut inputs = nothing();
    let writes_exec = name.starts_with("v_cmpx_");
    let first = words.operands.len().checked_sub(2).ok_or_else(|| name.to_owned())?;
    for (i, of) in signature.inputs.iter().enumerate() {
        inputs[i] = input(words.operands[first + i], *of, op_sel >> i & 1 != 0)?;
    }
    let written = match (writes_exec, first) {
        (true, _) => Output::Exec,
        (false, 0) => Output::Mask(scalar::VCC),
        (false, _) => output(words.operands[0], Type { kind: 'm', bits: 32 }, false)?,
    };
    Ok(Vector {
        compute: Compute::Compare(comparison),
        inputs,
        high: nothing(),
        count: 2,
        output: written,
        mask: Output::Nowhere,
        reads_vcc: false,
        finish: Finish::default(),
        width: 32,
        dpp: None,
    })
}

/// Both halves of packed registers: `op_sel` says which half the low result reads, `op_sel_hi` the high one's.
fn packed(compute: Compute, signature: &Signature, words: &Words<'_>) -> Decoded<Vector> {
    let of = signature.output.ok_or_else(|| words.mnemonic.to_owned())?;
    let select = |name, default| words.bits(name).unwrap_or(default);
    let halves = [(select("op_sel", 0), select("neg_lo", 0)), (select("op_sel_hi", 7), select("neg_hi", 0))];
    let register = vector_register(at(&words.operands, 0)?)?;
    let mut both = [nothing(), nothing()];
    for (is_high, (inputs, (op_sel, negate))) in both.iter_mut().zip(halves).enumerate() {
        for (i, of) in signature.inputs.iter().enumerate() {
            if of.kind == 'd' {
                inputs[i] = old_value(Output::VectorHalf(register, is_high == 1));
                continue;
            }
            let high = op_sel >> i & 1 != 0;
            let mut input = input(at(&words.operands, i + 1)?, *of, high)?;
            if let (Source::Constant(value), true) = (input.source, high) {
                // A constant has its number in the low half; above it, a whole number has its sign and a floating one nothing.
                input.source = Source::Constant(constant_high(value, words.operands[i + 1]));
            }
            input.flip ^= if negate >> i & 1 != 0 { 0x8000 } else { 0 };
            inputs[i] = input;
        }
    }
    let clamp = words.has("clamp");
    if clamp && of.kind != 'f' {
        return Err(format!("{} with clamp", words.mnemonic));
    }
    let [inputs, high] = both;
    Ok(Vector {
        compute,
        inputs,
        high,
        count: signature.inputs.len(),
        output: Output::Vector(register),
        mask: Output::Nowhere,
        reads_vcc: false,
        finish: Finish { factor: 0.0, clamp },
        width: 16,
        dpp: None,
    })
}

fn constant_high(low: u64, text: &str) -> u64 {
    match integer(text) {
        Some(value) if (-16..=64).contains(&value) => {
            if value < 0 {
                0xffff
            } else {
                0
            }
        }
        Some(literal) => literal as u64 >> 16 & 0xffff,
        None => {
            let _ = low;
            0
        }
    }
}

/// `op_sel_hi` says which sources are halves, `op_sel` which half; the others are f32.
fn fma_mix(mixed: Mixed, words: &Words<'_>) -> Decoded<Vector> {
    let (halves, high) = (words.bits("op_sel_hi").unwrap_or(0), words.bits("op_sel").unwrap_or(0));
    let (negate, absolute) = (words.bits("neg_lo").unwrap_or(0), words.bits("neg_hi").unwrap_or(0));
    let mut inputs = nothing();
    for (i, slot) in inputs.iter_mut().enumerate() {
        let bits = if halves >> i & 1 != 0 { 16 } else { 32 };
        let mut input = input(at(&words.operands, i + 1)?, Type { kind: 'f', bits }, high >> i & 1 != 0)?;
        let sign = 1 << (bits - 1);
        input.flip ^= if negate >> i & 1 != 0 { sign } else { 0 };
        input.clear |= if absolute >> i & 1 != 0 { sign } else { 0 };
        *slot = input;
    }
    let register = vector_register(at(&words.operands, 0)?)?;
    let written = match mixed {
        Mixed::Whole => Output::Vector(register),
        Mixed::Low => Output::VectorHalf(register, false),
        Mixed::High => Output::VectorHalf(register, true),
    };
    // Which inputs are halves is told by their sources' width; a constant's by this list.
    let high = std::array::from_fn(|i| Input {
        source: Source::Constant(u64::from(halves >> i & 1)),
        ..nothing()[0]
    });
    let width = if mixed == Mixed::Whole { 32 } else { 16 };
    let finish = Finish { factor: 0.0, clamp: words.has("clamp") };
    Ok(Vector {
        compute: Compute::Mixed(mixed),
        inputs,
        high,
        count: 3,
        output: written,
        mask: Output::Nowhere,
        reads_vcc: false,
        finish,
        width,
        dpp: None,
    })
}

fn across(name: &str, words: &Words<'_>) -> Option<Decoded<Across>> {
    let operands = &words.operands;
    let v = |i| at(operands, i).and_then(vector_register);
    let s = |i| at(operands, i).and_then(scalar_register);
    let w = |i| at(operands, i).and_then(word);
    let op_sel = words.bits("op_sel").unwrap_or(0);
    let permlane = |crossed| {
        let select = [w(2)?, w(3)?];
        let (fetch_inactive, bound_ctrl) = (op_sel & 1 != 0, op_sel & 2 != 0);
        Ok(Across::PermLane16 { to: v(0)?, from: v(1)?, select, crossed, fetch_inactive, bound_ctrl })
    };
    Some(match name {
        "v_readfirstlane_b32" => s(0).and_then(|to| Ok(Across::ReadFirstLane { to, from: w(1)? })),
        "v_readlane_b32" => s(0).and_then(|to| Ok(Across::ReadLane { to, from: v(1)?, lane: w(2)? })),
        "v_writelane_b32" => v(0).and_then(|to| Ok(Across::WriteLane { to, value: w(1)?, lane: w(2)? })),
        "v_permlane16_b32" => permlane(false),
        "v_permlanex16_b32" => permlane(true),
        "v_permlane64_b32" => v(0).and_then(|to| Ok(Across::PermLane64 { to, from: v(1)? })),
        "v_swap_b32" => v(0).and_then(|a| Ok(Across::Swap { a, b: v(1)? })),
        _ => return None,
    })
}

/// The lanes that DPP16 or DPP8 reads, if the instruction has one.
fn dpp(words: &Words<'_>) -> Decoded<Option<Dpp>> {
    if !words.mnemonic.ends_with("_dpp") && !words.mnemonic.ends_with("_dpp8") {
        return Ok(None);
    }
    let list = |text: &str| -> Vec<u8> {
        text.trim_matches(['[', ']']).split(',').filter_map(|lane| lane.parse().ok()).collect()
    };
    let mut from = [255u8; 32];
    let mut set = |f: &dyn Fn(u8) -> Option<u8>| {
        (0..32).for_each(|lane| from[usize::from(lane)] = f(lane).unwrap_or(255));
    };
    let amount = |name: &str| words.modifier(name).and_then(integer).map(|n| n as u8);
    // Within a row of 16.
    let row = |lane: u8, to: i16| (0..16).contains(&to).then_some(lane & 16 | to as u8 & 15);
    if let Some(lanes) = words.modifier("dpp8").map(list).filter(|lanes| lanes.len() == 8) {
        set(&|lane| Some(lane & 24 | lanes[usize::from(lane & 7)]));
    } else if let Some(lanes) = words.modifier("quad_perm").map(list).filter(|lanes| lanes.len() == 4) {
        set(&|lane| Some(lane & 28 | lanes[usize::from(lane & 3)]));
    } else if let Some(n) = amount("row_shl") {
        set(&|lane| row(lane, i16::from(lane & 15) + i16::from(n)));
    } else if let Some(n) = amount("row_shr") {
        set(&|lane| row(lane, i16::from(lane & 15) - i16::from(n)));
    } else if let Some(n) = amount("row_ror") {
        set(&|lane| Some(lane & 16 | (lane & 15).wrapping_sub(n) & 15));
    } else if let Some(n) = amount("row_share") {
        set(&|lane| Some(lane & 16 | n & 15));
    } else if let Some(n) = amount("row_xmask") {
        set(&|lane| Some(lane ^ n & 15));
    } else if words.has("row_mirror") {
        set(&|lane| Some(lane & 16 | (15 - (lane & 15))));
    } else if words.has("row_half_mirror") {
        set(&|lane| Some(lane & 24 | (7 - (lane & 7))));
    } else {
        return Err(format!("the DPP of {}", words.mnemonic));
    }
    let (rows, banks) = (amount("row_mask").unwrap_or(15), amount("bank_mask").unwrap_or(15));
    let is_enabled = |lane: u8| rows >> (lane / 16) & 1 != 0 && banks >> (lane % 16 / 4) & 1 != 0;
    let enabled = (0..32u8).filter(|lane| is_enabled(*lane)).fold(0, |all, lane| all | 1 << lane);
    let is_dpp8 = words.modifier("dpp8").is_some();
    Ok(Some(Dpp {
        from,
        enabled,
        bound_ctrl: is_dpp8 || words.modifier("bound_ctrl") == Some("1"),
        fetch_inactive: words.modifier("fi") == Some("1"),
    }))
}
