//! WMMA.

use super::operands::{at, vector_register, word};
use super::{Decoded, Generation};
use crate::instruction::{Element, Matrix, Op, Source};
use crate::operand::signed;
use crate::text::Words;

/// `v_wmma_<result>_<m>x<n>x<k>_<elements>`.
pub(super) fn matrix(name: &str, words: &Words<'_>, generation: Generation) -> Decoded<Op> {
    let unknown = || name.to_owned();
    let rest = name.strip_prefix("v_wmma_").ok_or_else(unknown)?;
    let mut parts = rest.split('_');
    let result = parts.next().ok_or_else(unknown)?;
    let k = match parts.next() {
        Some("16x16x16") => 16,
        Some("16x16x32") => 32,
        _ => return Err(unknown()),
    };
    let element = |part: &str| {
        Some(match part {
            "f16" => Element::F16,
            "bf16" => Element::Bf16,
            "fp8" => Element::Fp8,
            "bf8" => Element::Bf8,
            "iu8" => Element::U8,
            "iu4" => Element::U4,
            _ => return None,
        })
    };
    let a = parts.next().and_then(element).ok_or_else(unknown)?;
    let b = parts.next().map_or(Some(a), element).ok_or_else(unknown)?;
    let (neg_lo, neg_hi) = (words.bits("neg_lo").unwrap_or(0), words.bits("neg_hi").unwrap_or(0));
    let is_integer = result == "i32";
    // Of whole numbers the negation bits say that A and B are signed.
    let signed_element = |element, index: u8| match element {
        Element::U8 if neg_lo >> index & 1 != 0 => Element::I8,
        Element::U4 if neg_lo >> index & 1 != 0 => Element::I4,
        other => other,
    };
    let small = match result {
        "f32" | "i32" => None,
        "f16" => Some(Element::F16),
        "bf16" => Some(Element::Bf16),
        _ => return Err(unknown()),
    };
    let c = at(&words.operands, 3)?;
    let inline = signed(c).ok_or_else(|| format!("operand {c}"))?;
    let c = match vector_register(c) {
        Ok(register) => Source::Vector(register),
        Err(_) => constant(word(c)?, inline.operand, small),
    };
    let negations = |index: u8| match is_integer {
        true => (false, false),
        false => (neg_lo >> index & 1 != 0, neg_hi >> index & 1 != 0),
    };
    let high =
        generation == Generation::Gfx11 && small.is_some() && words.bits("op_sel").unwrap_or(0) & 4 != 0;
    let (c_negate, c_absolute) = negations(2);
    Ok(Op::Matrix(Box::new(Matrix {
        a: (vector_register(at(&words.operands, 1)?)?, signed_element(a, 0)),
        b: (vector_register(at(&words.operands, 2)?)?, signed_element(b, 1)),
        c,
        d: vector_register(at(&words.operands, 0)?)?,
        k,
        small,
        high,
        clamp: words.has("clamp"),
        c_signs: (c_absolute, c_negate),
        a_negate: negations(0),
        b_negate: negations(1),
    })))
}

/// A constant C has the format of the result.
fn constant(word: Source, operand: crate::operand::Operand, small: Option<Element>) -> Source {
    match (operand, small) {
        (crate::operand::Operand::Float(x), Some(Element::F16)) => {
            Source::Constant(crate::number::f16_bits(x))
        }
        (crate::operand::Operand::Float(x), Some(Element::Bf16)) => {
            Source::Constant(crate::number::bf16_bits(x))
        }
        _ => word,
    }
}
