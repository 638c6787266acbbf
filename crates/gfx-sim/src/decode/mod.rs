//! From a line of text to an [`Instruction`].

mod flow;
mod lds;
mod matrix;
mod memory;
mod operands;
mod vector;

use crate::counts::Class;
use crate::instruction::{Instruction, Op};
use crate::text::{Line, Words};

/// Why a line is not an instruction of ours: the name of what is missing.
pub(crate) type Decoded<T> = Result<T, String>;

/// Which generation the code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    Gfx11,
    Gfx12,
}

/// Decodes one line. What is not known becomes [`Op::Unsupported`], which is a fault if it is executed.
pub(crate) fn decode(line: &Line, generation: Generation) -> Instruction {
    let (first, second) = line.halves();
    let op = match second {
        Some(second) => vector::dual(&first, &second),
        None => single(&first, line, generation),
    };
    let op = op.unwrap_or_else(Op::Unsupported);
    Instruction { pc: line.pc, class: class(first.mnemonic, &op), op }
}

fn single(words: &Words<'_>, line: &Line, generation: Generation) -> Decoded<Op> {
    let name = words.mnemonic;
    let family = name.split('_').next().unwrap_or_default();
    match family {
        "v" => vector::vector(words, generation),
        "s" => flow::scalar(words, line),
        "ds" => lds::lds(words),
        "global" | "flat" | "scratch" | "buffer" => memory::memory(words),
        _ => Err(name.to_owned()),
    }
}

fn class(name: &str, op: &Op) -> Class {
    match op {
        Op::Matrix(_) => Class::Wmma,
        Op::Vector(_) | Op::Dual(_) | Op::Across(_) => Class::Valu,
        Op::ScalarLoad { .. } => Class::Smem,
        Op::Memory(_) => Class::Vmem,
        Op::Lds(_) => Class::Lds,
        Op::Wait(_) => Class::Wait,
        Op::Branch { .. } | Op::SetPc { .. } | Op::Call { .. } | Op::End | Op::Trap => Class::Branch,
        Op::Barrier | Op::BarrierSignal { .. } | Op::BarrierWait => Class::Barrier,
        Op::Hint => Class::Hint,
        Op::Unsupported(_) if name.starts_with("v_") => Class::Valu,
        _ => Class::Salu,
    }
}

#[cfg(test)]
pub(crate) fn signature(text: &str) -> operands::Signature {
    operands::Signature::parse(text)
}
