//! Operands with the types that a signature gives them.

use super::Decoded;
use crate::instruction::{Input, Output, Source};
use crate::operand::{Half, Operand, scalar, signed};

/// The type of one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) kind: char,
    pub(crate) bits: u8,
}

/// A parsed signature (see [`crate::isa`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signature {
    /// `None`: SCC alone.
    pub(crate) output: Option<Type>,
    pub(crate) mask: bool,
    pub(crate) scc: bool,
    pub(crate) inputs: Vec<Type>,
    pub(crate) vcc: bool,
}

impl Signature {
    pub(crate) fn parse(text: &str) -> Self {
        let (output, inputs) = text.split_once(':').unwrap_or((text, ""));
        let mut outputs = output.split('+');
        let first = outputs.next().unwrap_or_default();
        let rest: Vec<_> = outputs.collect();
        let inputs: Vec<_> = inputs.split_whitespace().collect();
        Self {
            output: (first != "c").then(|| kind(first)),
            mask: rest.contains(&"m"),
            scc: first == "c" || rest.contains(&"c"),
            vcc: inputs.contains(&"vcc"),
            inputs: inputs.into_iter().filter(|word| *word != "vcc").map(kind).collect(),
        }
    }
}

fn kind(word: &str) -> Type {
    let kind = word.chars().next().unwrap_or('u');
    let bits = word.get(1..).and_then(|bits| bits.parse().ok()).unwrap_or(32);
    Type { kind, bits }
}

const NONE: Input = Input { source: Source::Constant(0), clear: 0, flip: 0 };

/// No operand.
pub(crate) fn nothing() -> [Input; 3] {
    [NONE; 3]
}

/// `text` as a source of type `of`. `high`: the half that `op_sel` names, where the text has none.
pub(crate) fn input(text: &str, of: Type, high: bool) -> Decoded<Input> {
    let parsed = signed(text).ok_or_else(|| format!("operand {text}"))?;
    let source = source(parsed.operand, of, high).ok_or_else(|| format!("operand {text}"))?;
    let sign = 1u64 << (of.bits - 1);
    Ok(Input {
        source,
        clear: if parsed.absolute { sign } else { 0 },
        flip: if parsed.negate { sign } else { 0 },
    })
}

fn source(operand: Operand, of: Type, op_sel: bool) -> Option<Source> {
    let is_high = |half: Option<Half>| half.map_or(op_sel, |half| half == Half::High);
    Some(match operand {
        Operand::Vector { first, half, .. } => match of.bits {
            8 | 16 => Source::VectorHalf(first, is_high(half)),
            64 => Source::VectorWide(first),
            _ => Source::Vector(first),
        },
        Operand::Scalar { first: scalar::NULL, .. } => Source::Constant(0),
        Operand::Scalar { first, half, .. } => match (of.kind, of.bits) {
            ('m', _) => Source::Mask(first),
            (_, 8 | 16) => Source::ScalarHalf(first, is_high(half)),
            (_, 64) => Source::ScalarWide(first),
            _ => Source::Scalar(first),
        },
        Operand::Scc => Source::Scc,
        Operand::Integer(value) => Source::Constant(integer(value, of)),
        Operand::Float(value) => Source::Constant(float(value, of)),
        Operand::Aperture(base) => Source::Constant(if of.bits == 64 { base } else { base >> 32 }),
        Operand::Off => return None,
    })
}

/// An integer constant. Inline ones (-16 to 64) are sign-extended; a literal is the high half of an f64, sign-extended to an i64, else zero-extended.
fn integer(value: i64, of: Type) -> u64 {
    let is_inline = (-16..=64).contains(&value);
    match of.bits {
        8 | 16 => value as u64 & 0xffff,
        64 if is_inline || value > i64::from(u32::MAX) => value as u64,
        64 if of.kind == 'f' => (value as u64) << 32,
        64 if of.kind == 'i' => i64::from(value as u32 as i32) as u64,
        _ => u64::from(value as u32),
    }
}

/// A floating inline constant in the format of the operand.
fn float(value: f64, of: Type) -> u64 {
    match of.bits {
        8 | 16 => crate::number::f16_bits(crate::number::nearest(value, crate::number::F16)),
        64 => value.to_bits(),
        _ => u64::from((value as f32).to_bits()),
    }
}

/// `text` as the destination of a result of type `of`.
pub(crate) fn output(text: &str, of: Type, high: bool) -> Decoded<Output> {
    let wrong = || format!("destination {text}");
    Ok(match crate::operand::operand(text).ok_or_else(wrong)? {
        Operand::Vector { first, half, .. } => match of.bits {
            16 => Output::VectorHalf(first, half.map_or(high, |half| half == Half::High)),
            64 => Output::VectorWide(first),
            _ => Output::Vector(first),
        },
        Operand::Scalar { first: scalar::NULL, .. } => Output::Nowhere,
        Operand::Scalar { first, .. } if of.kind == 'm' => Output::Mask(first),
        Operand::Scalar { first, .. } if of.bits == 64 => Output::ScalarWide(first),
        Operand::Scalar { first, .. } => Output::Scalar(first),
        _ => return Err(wrong()),
    })
}

/// A source that reads what `output` writes.
pub(crate) fn old_value(output: Output) -> Input {
    let source = match output {
        Output::Vector(register) => Source::Vector(register),
        Output::VectorHalf(register, high) => Source::VectorHalf(register, high),
        Output::VectorByte(register, byte) => Source::VectorByte(register, byte),
        Output::VectorWide(register) => Source::VectorWide(register),
        Output::Scalar(register) => Source::Scalar(register),
        Output::ScalarWide(register) => Source::ScalarWide(register),
        Output::Mask(register) => Source::Mask(register),
        Output::Exec | Output::Nowhere => Source::Constant(0),
    };
    Input { source, clear: 0, flip: 0 }
}

/// The number of the first vector register of an operand.
pub(crate) fn vector_register(text: &str) -> Decoded<u8> {
    match crate::operand::operand(text) {
        Some(Operand::Vector { first, .. }) => Ok(first),
        _ => Err(format!("operand {text}")),
    }
}

/// The number of the first scalar register of an operand.
pub(crate) fn scalar_register(text: &str) -> Decoded<u8> {
    match crate::operand::operand(text) {
        Some(Operand::Scalar { first, .. }) => Ok(first),
        _ => Err(format!("operand {text}")),
    }
}

/// A 32-bit source.
pub(crate) fn word(text: &str) -> Decoded<Source> {
    input(text, Type { kind: 'u', bits: 32 }, false).map(|input| input.source)
}

/// The operand at `index`.
pub(crate) fn at<'a>(operands: &[&'a str], index: usize) -> Decoded<&'a str> {
    operands.get(index).copied().ok_or_else(|| format!("operand {index} is missing"))
}
