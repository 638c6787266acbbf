//! LDS instructions.

use super::Decoded;
use super::memory::{change, datum};
use super::operands::{at, vector_register};
use crate::instruction::{Change, Datum, LdsOp, Op};
use crate::text::Words;

pub(super) fn lds(words: &Words<'_>) -> Decoded<Op> {
    let name = words.mnemonic;
    let operation = name.strip_prefix("ds_").unwrap_or(name);
    let unknown = || name.to_owned();
    let v = |i| at(&words.operands, i).and_then(vector_register);
    let offset = words.number("offset") as u32;
    if words.has("gds") {
        return Err(unknown());
    }
    Ok(Op::Lds(match operation {
        "nop" => return Ok(Op::Hint),
        "bpermute_b32" => LdsOp::Permute { to: v(0)?, address: v(1)?, data: v(2)?, offset, backward: true },
        "permute_b32" => LdsOp::Permute { to: v(0)?, address: v(1)?, data: v(2)?, offset, backward: false },
        "swizzle_b32" => LdsOp::Swizzle { to: v(0)?, data: v(1)?, pattern: pattern(words)? },
        _ if operation.starts_with("load_2addr") => {
            let (words_each, offsets) = two(operation, words).ok_or_else(unknown)?;
            LdsOp::Load2 { to: v(0)?, address: v(1)?, words: words_each, offsets }
        }
        _ if operation.starts_with("store_2addr") => {
            let (words_each, offsets) = two(operation, words).ok_or_else(unknown)?;
            LdsOp::Store2 { address: v(0)?, data: [v(1)?, v(2)?], words: words_each, offsets }
        }
        _ if operation.starts_with("load_") => {
            let datum = kind(&operation[5..]).ok_or_else(unknown)?;
            LdsOp::Load { to: v(0)?, address: v(1)?, datum, offset }
        }
        _ if operation.starts_with("store_") => {
            let datum = kind(&operation[6..]).ok_or_else(unknown)?;
            LdsOp::Store { address: v(0)?, data: v(1)?, datum, offset }
        }
        _ => {
            let returns = operation.contains("_rtn");
            let change = match operation.replacen("_rtn", "", 1).as_str() {
                "storexchg_b32" => Change::Swap,
                "cmpstore_b32" => Change::CompareSwap,
                other => change(other).ok_or_else(unknown)?,
            };
            let old = if returns { Some(v(0)?) } else { None };
            let first = usize::from(returns);
            LdsOp::Change { address: v(first)?, data: v(first + 1)?, change, old, offset }
        }
    }))
}

/// LDS spells the half behind the type: `u8_d16_hi`, `b16_d16_hi`.
fn kind(kind: &str) -> Option<Datum> {
    match kind {
        "u8_d16" => datum("d16_u8"),
        "u8_d16_hi" => datum("d16_hi_u8"),
        "i8_d16" => datum("d16_i8"),
        "i8_d16_hi" => datum("d16_hi_i8"),
        "u16_d16" => datum("d16_b16"),
        "u16_d16_hi" | "b16_d16_hi" => datum("d16_hi_b16"),
        "b8_d16_hi" => datum("d16_hi_b8"),
        other => datum(other),
    }
}

/// Words of each of the two, and the two offsets in bytes.
fn two(operation: &str, words: &Words<'_>) -> Option<(u8, [u32; 2])> {
    let each = if operation.ends_with("b32") {
        1
    } else if operation.ends_with("b64") {
        2
    } else {
        return None;
    };
    let unit = u32::from(each) * if operation.contains("stride64") { 256 } else { 4 };
    Some((each, ["offset0", "offset1"].map(|name| words.number(name) as u32 * unit)))
}

/// The 16 bits of a swizzle, which LLVM may print as words.
fn pattern(words: &Words<'_>) -> Decoded<u16> {
    let text = words.modifier("offset").unwrap_or("0");
    if let Some(number) = crate::text::integer(text) {
        return Ok(number as u16);
    }
    let inside = text.strip_prefix("swizzle(").and_then(|rest| rest.strip_suffix(')'));
    let (mode, arguments) =
        inside.and_then(|inside| inside.split_once(',')).ok_or_else(|| text.to_owned())?;
    let numbers: Vec<u16> = arguments.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    match (mode, numbers.as_slice()) {
        ("SWAP", [size]) => Ok(size << 10 | 0x1f),
        ("REVERSE", [size]) => Ok((size - 1) << 10 | 0x1f),
        ("BROADCAST", [size, lane]) => Ok(lane << 5 | (32 - size) & 0x1f),
        ("QUAD_PERM", [a, b, c, d]) => Ok(0x8000 | a | b << 2 | c << 4 | d << 6),
        ("BITMASK_PERM", []) => bitmask(arguments).ok_or_else(|| text.to_owned()),
        _ => Err(text.to_owned()),
    }
}

/// `"01pi0"`: of each bit of the lane number, from the top: 0, 1, preserved, inverted.
fn bitmask(text: &str) -> Option<u16> {
    let text = text.trim().trim_matches('"');
    let mut masks = (0, 0, 0);
    for (bit, letter) in (0..5).rev().zip(text.chars()) {
        match letter {
            '0' => {}
            '1' => masks.1 |= 1 << bit,
            'p' => masks.0 |= 1 << bit,
            'i' => (masks.0, masks.2) = (masks.0 | 1 << bit, masks.2 | 1 << bit),
            _ => return None,
        }
    }
    Some(masks.0 | masks.1 << 5 | masks.2 << 10)
}
