//! Scalar instructions: arithmetic, loads, branches, waits, barriers.

use super::Decoded;
use super::operands::{Signature, Type, at, input, nothing, old_value, output, scalar_register, word};
use crate::fault::Counter;
use crate::instruction::{Condition, ExecOp, Op, ScalarOp, Source};
use crate::isa::{Run, row, scalar_comparison};
use crate::text::{Line, Words, integer};

pub(super) fn scalar(words: &Words<'_>, line: &Line) -> Decoded<Op> {
    let name = words.mnemonic;
    if let Some(counters) = wait(words) {
        return counters.map(Op::Wait);
    }
    if let Some(op) = branch(words, line) {
        return op;
    }
    if let Some(op) = program(words) {
        return op;
    }
    if name.starts_with("s_load_") || name.starts_with("s_buffer_load_") {
        return load(words);
    }
    if let Some(op) = exec(words) {
        return op.map(|op| Op::Exec(Box::new(op)));
    }
    if let Some((comparison, _)) = scalar_comparison(name) {
        let signature = Signature::parse(comparison.operands());
        let operand = |i: usize| input(at(&words.operands, i)?, signature.inputs[i], false);
        return Ok(Op::ScalarCompare { comparison, inputs: [operand(0)?, operand(1)?] });
    }
    arithmetic(words).map(|op| Op::Scalar(Box::new(op)))
}

fn arithmetic(words: &Words<'_>) -> Decoded<ScalarOp> {
    let name = words.mnemonic;
    let row = row(name).ok_or_else(|| name.to_owned())?;
    let Run::Scalar(run) = row.run else { return Err(name.to_owned()) };
    let signature = Signature::parse(row.signature);
    let (written, mut next) = match signature.output {
        Some(of) => (output(at(&words.operands, 0)?, of, false)?, 1),
        None => (crate::instruction::Output::Nowhere, 0),
    };
    let mut inputs = nothing();
    for (i, of) in signature.inputs.iter().enumerate() {
        if of.kind == 'd' {
            inputs[i] = old_value(written);
            continue;
        }
        let text = at(&words.operands, next)?;
        inputs[i] = if of.kind == 'k' {
            let constant = integer(text).ok_or_else(|| format!("operand {text}"))?;
            let value = u64::from(i32::from(constant as i16) as u32);
            crate::instruction::Input { source: Source::Constant(value), ..nothing()[0] }
        } else {
            input(text, *of, false)?
        };
        next += 1;
    }
    let reads_scc = name.starts_with("s_cmov")
        || name.starts_with("s_cselect")
        || ["s_addc_u32", "s_subb_u32", "s_add_co_ci_u32", "s_sub_co_ci_u32"].contains(&name);
    let count = signature.inputs.len();
    Ok(ScalarOp { run, inputs, count, output: written, writes_scc: signature.scc, reads_scc })
}

fn exec(words: &Words<'_>) -> Option<Decoded<ExecOp>> {
    let name = words.mnemonic.strip_prefix("s_")?;
    let (operation, gives_new) = match name.strip_suffix("_saveexec_b32") {
        Some(operation) => (operation, false),
        None => (name.strip_suffix("_wrexec_b32")?, true),
    };
    let new: fn(u32, u32) -> u32 = match operation {
        "and" => |s, e| s & e,
        "or" => |s, e| s | e,
        "xor" => |s, e| s ^ e,
        "nand" => |s, e| !(s & e),
        "nor" => |s, e| !(s | e),
        "xnor" => |s, e| !(s ^ e),
        "and_not0" => |s, e| !s & e,
        "or_not0" => |s, e| !s | e,
        "and_not1" => |s, e| s & !e,
        "or_not1" => |s, e| s | !e,
        _ => return Some(Err(words.mnemonic.to_owned())),
    };
    let decode = || {
        let source = input(at(&words.operands, 1)?, Type { kind: 'u', bits: 32 }, false)?;
        Ok(ExecOp { new, source, output: scalar_register(at(&words.operands, 0)?)?, gives_new })
    };
    Some(decode())
}

/// The counters that a wait names, each with how many may be left.
fn wait(words: &Words<'_>) -> Option<Decoded<Vec<(Counter, usize)>>> {
    use Counter::{Lds, LdsAndScalar, Load, Scalar, Store};
    let name = words.mnemonic;
    let last = words.operands.last().copied().unwrap_or_default();
    let number = || integer(last).map(|n| n as usize).ok_or_else(|| format!("{name} {last}"));
    let both = |first, second| number().map(|n| vec![(first, n >> 8 & 63), (second, n & 63)]);
    Some(match name {
        "s_waitcnt" => {
            if let Some(n) = integer(last) {
                return Some(Ok(vec![(Load, n as usize >> 10 & 63), (LdsAndScalar, n as usize >> 4 & 63)]));
            }
            let counters = words.operands.iter().chain(&words.modifiers).flat_map(|word| word.split('&'));
            let one = |word: &str| {
                let (counter, left) = word.trim().strip_suffix(')').and_then(|word| word.split_once('('))?;
                let left = left.parse().ok()?;
                Some(match counter {
                    "vmcnt" => vec![(Load, left)],
                    "lgkmcnt" => vec![(LdsAndScalar, left)],
                    "expcnt" => vec![],
                    _ => return None,
                })
            };
            let all: Option<Vec<_>> = counters.filter(|word| !word.is_empty()).map(one).collect();
            all.map(|all| all.concat()).ok_or_else(|| format!("{name} {last}"))
        }
        "s_waitcnt_vscnt" => number().map(|n| vec![(Store, n)]),
        "s_waitcnt_vmcnt" => number().map(|n| vec![(Load, n)]),
        "s_waitcnt_lgkmcnt" => number().map(|n| vec![(LdsAndScalar, n)]),
        "s_waitcnt_expcnt" | "s_wait_expcnt" | "s_wait_samplecnt" | "s_wait_bvhcnt" => Ok(vec![]),
        "s_wait_loadcnt" => number().map(|n| vec![(Load, n)]),
        "s_wait_storecnt" => number().map(|n| vec![(Store, n)]),
        "s_wait_dscnt" => number().map(|n| vec![(Lds, n)]),
        "s_wait_kmcnt" => number().map(|n| vec![(Scalar, n)]),
        "s_wait_loadcnt_dscnt" => both(Load, Lds),
        "s_wait_storecnt_dscnt" => both(Store, Lds),
        "s_wait_idle" => Ok(vec![(Load, 0), (Store, 0), (Lds, 0), (Scalar, 0)]),
        _ => return None,
    })
}

fn branch(words: &Words<'_>, line: &Line) -> Option<Decoded<Op>> {
    let condition = match words.mnemonic {
        "s_branch" => Condition::Always,
        "s_cbranch_scc0" => Condition::Scc(false),
        "s_cbranch_scc1" => Condition::Scc(true),
        "s_cbranch_vccz" => Condition::VccZero(true),
        "s_cbranch_vccnz" => Condition::VccZero(false),
        "s_cbranch_execz" => Condition::ExecZero(true),
        "s_cbranch_execnz" => Condition::ExecZero(false),
        "s_call_b64" => {
            let call = || {
                let link = scalar_register(at(&words.operands, 0)?)?;
                Ok(Op::Call { to: target(at(&words.operands, 1)?, line)?, link })
            };
            return Some(call());
        }
        _ => return None,
    };
    Some(at(&words.operands, 0).and_then(|to| Ok(Op::Branch { condition, to: target(to, line)? })))
}

/// A branch counts words from the next instruction.
fn target(text: &str, line: &Line) -> Decoded<u64> {
    let words = integer(text).ok_or_else(|| format!("target {text}"))? as i16;
    Ok(line.pc.wrapping_add(4).wrapping_add_signed(4 * i64::from(words)))
}

/// What steers the program: barriers, jumps through registers, MODE, hints.
fn program(words: &Words<'_>) -> Option<Decoded<Op>> {
    let operand = |i| at(&words.operands, i);
    let immediate = |i| operand(i).and_then(|text| integer(text).ok_or_else(|| format!("operand {text}")));
    Some(match words.mnemonic {
        "s_endpgm" | "s_code_end" => Ok(Op::End),
        "s_trap" => Ok(Op::Trap),
        "s_barrier" => Ok(Op::Barrier),
        "s_barrier_signal" | "s_barrier_signal_isfirst" => match immediate(0) {
            Ok(-1) => Ok(Op::BarrierSignal { is_first: words.mnemonic.ends_with("isfirst") }),
            Ok(_) => Err(words.mnemonic.to_owned()),
            Err(error) => Err(error),
        },
        // -1, which LLVM prints as 16 bits.
        "s_barrier_wait" => match immediate(0) {
            Ok(-1 | 0xffff) => Ok(Op::BarrierWait),
            Ok(_) => Err(words.mnemonic.to_owned()),
            Err(error) => Err(error),
        },
        "s_getpc_b64" => operand(0).and_then(scalar_register).map(Op::GetPc),
        "s_setpc_b64" => operand(0).and_then(|to| Ok(Op::SetPc { to: wide(to)?, link: None })),
        "s_swappc_b64" => operand(0)
            .and_then(scalar_register)
            .and_then(|link| Ok(Op::SetPc { to: wide(operand(1)?)?, link: Some(link) })),
        "s_round_mode" => {
            immediate(0).map(|n| Op::SetMode { from: 0, width: 4, value: Source::Constant(n as u64) })
        }
        "s_denorm_mode" => {
            immediate(0).map(|n| Op::SetMode { from: 4, width: 4, value: Source::Constant(n as u64) })
        }
        "s_setreg_b32" | "s_setreg_imm32_b32" => field(operand(0).unwrap_or_default())
            .ok_or_else(|| words.mnemonic.to_owned())
            .and_then(|(from, width)| Ok(Op::SetMode { from, width, value: word(operand(1)?)? })),
        "s_getreg_b32" => operand(0).and_then(scalar_register).and_then(|to| {
            let (from, width) = field(operand(1)?).ok_or_else(|| words.mnemonic.to_owned())?;
            Ok(Op::GetMode { from, width, to })
        }),
        "s_nop"
        | "s_clause"
        | "s_delay_alu"
        | "s_set_inst_prefetch_distance"
        | "s_waitcnt_depctr"
        | "s_wait_alu"
        | "s_sleep"
        | "s_setprio"
        | "s_sendmsg"
        | "s_icache_inv"
        | "s_dcache_inv"
        | "s_sethalt"
        | "s_wait_event"
        | "s_ttracedata"
        | "s_ttracedata_imm"
        | "s_incperflevel"
        | "s_decperflevel"
        | "s_sleep_var"
        | "s_prefetch_inst"
        | "s_prefetch_inst_pc_rel"
        | "s_prefetch_data"
        | "s_prefetch_data_pc_rel" => Ok(Op::Hint),
        _ => return None,
    })
}

fn wide(text: &str) -> Decoded<Source> {
    input(text, Type { kind: 'u', bits: 64 }, false).map(|input| input.source)
}

/// `hwreg(HW_REG_MODE, 4, 2)`: the first bit and how many; other registers are not known.
fn field(text: &str) -> Option<(u8, u8)> {
    let inside = text.strip_prefix("hwreg(")?.strip_suffix(')')?;
    let mut parts = inside.split(',').map(str::trim);
    if parts.next()? != "HW_REG_MODE" {
        return None;
    }
    let mut number = |default| parts.next().map_or(Some(default), |part| part.parse().ok());
    Some((number(0)?, number(32)?))
}

fn load(words: &Words<'_>) -> Decoded<Op> {
    let name = words.mnemonic;
    let buffer = name.starts_with("s_buffer_");
    let kind = name.rsplit('_').next().unwrap_or_default();
    let (count, part) = match kind {
        "u8" => (1, Some((1, false))),
        "i8" => (1, Some((1, true))),
        "u16" => (1, Some((2, false))),
        "i16" => (1, Some((2, true))),
        _ => {
            let bits: u32 =
                kind.strip_prefix('b').and_then(|n| n.parse().ok()).ok_or_else(|| name.to_owned())?;
            ((bits / 32) as u8, None)
        }
    };
    let last = at(&words.operands, 2)?;
    let (offset, register) = match integer(last) {
        Some(offset) => (offset, None),
        None => (0, Some(word(last)?)),
    };
    Ok(Op::ScalarLoad {
        to: scalar_register(at(&words.operands, 0)?)?,
        words: count,
        part,
        base: scalar_register(at(&words.operands, 1)?)?,
        offset: offset + words.number("offset"),
        register,
        buffer,
    })
}
