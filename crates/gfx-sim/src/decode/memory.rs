//! Global, flat, scratch and buffer memory.

use super::Decoded;
use super::operands::{at, scalar_register, vector_register, word};
use crate::instruction::{Change, Datum, Memory, Op, Space, Transfer};
use crate::text::{Words, integer};

pub(super) fn memory(words: &Words<'_>) -> Decoded<Op> {
    let name = words.mnemonic;
    let (family, operation) = name.split_once('_').ok_or_else(|| name.to_owned())?;
    if operation == "gl0_inv"
        || operation == "gl1_inv"
        || operation == "inv"
        || operation.starts_with("wb")
        || operation.starts_with("prefetch")
    {
        return Ok(Op::Hint);
    }
    let unknown = || name.to_owned();
    let (transfer, datum) = if let Some(kind) = operation.strip_prefix("load_") {
        (Transfer::Load, datum(kind).ok_or_else(unknown)?)
    } else if let Some(kind) = operation.strip_prefix("store_") {
        (Transfer::Store, datum(kind).ok_or_else(unknown)?)
    } else if let Some(kind) = operation.strip_prefix("atomic_") {
        let returns = words.has("glc") || words.modifier("th").is_some_and(|th| th.contains("RETURN"));
        (Transfer::Change(change(kind).ok_or_else(unknown)?, returns), Datum::Words(1))
    } else {
        return Err(unknown());
    };
    let operands = &words.operands;
    let vector = |i| at(operands, i).and_then(vector_register);
    let optional = |i| match at(operands, i) {
        Ok("off") => Ok(None),
        Ok(text) => vector_register(text).map(Some),
        Err(error) => Err(error),
    };
    let has_result = matches!(transfer, Transfer::Load | Transfer::Change(_, true));
    let (data, space) = match family {
        "buffer" => {
            let both = words.has("idxen") && words.has("offen");
            let address = optional(1)?;
            let offset = if both { address.map(|a| a + 1) } else { address.filter(|_| words.has("offen")) };
            let index = address.filter(|_| words.has("idxen"));
            let descriptor = scalar_register(at(operands, 2)?)?;
            (vector(0)?, Space::Buffer { offset, index, descriptor, base: word(at(operands, 3)?)? })
        }
        // Without a result the data stands behind the address.
        _ => {
            let (place, data, rest) = match (transfer, has_result) {
                (Transfer::Load, _) => (1, vector(0)?, 2),
                (Transfer::Change(..), true) => (1, vector(2)?, 3),
                _ => (0, vector(1)?, 2),
            };
            let space = match family {
                "flat" => Space::Flat { address: vector(place)? },
                "scratch" => {
                    let base = at(operands, rest)?;
                    let base = if base == "off" { None } else { Some(word(base)?) };
                    Space::Scratch { address: optional(place)?, base }
                }
                _ => {
                    let base = at(operands, rest)?;
                    let base = if base == "off" { None } else { Some(scalar_register(base)?) };
                    Space::Global { address: vector(place)?, base }
                }
            };
            (data, space)
        }
    };
    // A buffer's atomic operation gives the old value in the place of its data.
    let result = if has_result { vector(0)? } else { data };
    let offset = words.modifier("offset").and_then(integer).unwrap_or(0);
    Ok(Op::Memory(Box::new(Memory { transfer, datum, space, data, result, offset })))
}

/// `b32`, `u8`, `d16_hi_b16`, …
pub(super) fn datum(kind: &str) -> Option<Datum> {
    Some(match kind {
        "b32" | "dword" => Datum::Words(1),
        "b64" => Datum::Words(2),
        "b96" => Datum::Words(3),
        "b128" => Datum::Words(4),
        "u8" | "b8" => Datum::Extended { bytes: 1, signed: false },
        "i8" => Datum::Extended { bytes: 1, signed: true },
        "u16" | "b16" => Datum::Extended { bytes: 2, signed: false },
        "i16" => Datum::Extended { bytes: 2, signed: true },
        "d16_b16" => Datum::Half { bytes: 2, signed: false, high: false },
        "d16_hi_b16" => Datum::Half { bytes: 2, signed: false, high: true },
        "d16_u8" => Datum::Half { bytes: 1, signed: false, high: false },
        "d16_hi_u8" | "d16_hi_b8" => Datum::Half { bytes: 1, signed: false, high: true },
        "d16_i8" => Datum::Half { bytes: 1, signed: true, high: false },
        "d16_hi_i8" => Datum::Half { bytes: 1, signed: true, high: true },
        _ => return None,
    })
}

/// What an atomic operation does: `add_u32`, `min_i32`, …
pub(super) fn change(kind: &str) -> Option<Change> {
    Some(match kind {
        "add_u32" => Change::AddU32,
        "sub_u32" => Change::SubU32,
        "and_b32" => Change::AndB32,
        "or_b32" => Change::OrB32,
        "xor_b32" => Change::XorB32,
        "min_u32" => Change::MinU32,
        "max_u32" => Change::MaxU32,
        "min_i32" => Change::MinI32,
        "max_i32" => Change::MaxI32,
        "add_f32" => Change::AddF32,
        "min_f32" | "min_num_f32" => Change::MinF32,
        "max_f32" | "max_num_f32" => Change::MaxF32,
        "swap_b32" => Change::Swap,
        "cmpswap_b32" => Change::CompareSwap,
        _ => return None,
    })
}
