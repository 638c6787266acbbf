//! Executes instructions on a wave.

mod across;
mod lds;
mod matrix;
mod memory;
mod scalar;
mod vector;

use crate::fault::{Counter, FaultKind, Step};
use crate::instruction::{Condition, Instruction, Op};
use crate::lds::{Lds, Who};
use crate::memory::Memory;
use crate::operand::scalar::VCC;
use crate::wave::Wave;

/// What a wave sees beside its registers.
pub(crate) struct Surroundings<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) lds: &'a mut Lds,
    /// Where the code object was loaded: what an instruction's address there is in memory.
    pub(crate) code: u64,
}

/// What comes after an instruction.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Step,
    Jump(u64),
    /// The wave waits at a barrier.
    Barrier,
    End,
}

pub(crate) fn execute(
    wave: &mut Wave,
    around: &mut Surroundings<'_>,
    instruction: &Instruction,
) -> Step<Next> {
    match &instruction.op {
        Op::Vector(vector) => vector::execute(wave, vector)?,
        Op::Dual(both) => vector::dual(wave, both)?,
        Op::Across(across) => across::execute(wave, across)?,
        Op::Matrix(matrix) => matrix::execute(wave, matrix)?,
        Op::Scalar(operation) => scalar::execute(wave, operation)?,
        Op::ScalarCompare { comparison, inputs } => scalar::compare(wave, *comparison, inputs)?,
        Op::Exec(operation) => scalar::exec(wave, operation)?,
        Op::ScalarLoad { to, words, part, base, offset, register, buffer } => {
            memory::scalar_load(
                wave,
                around,
                &memory::ScalarLoad {
                    to: *to,
                    words: *words,
                    part: *part,
                    base: *base,
                    offset: *offset,
                    register: *register,
                    buffer: *buffer,
                },
            )?;
        }
        Op::Memory(memory) => memory::execute(wave, around, memory)?,
        Op::Lds(operation) => lds::execute(wave, around, operation)?,
        Op::Wait(counters) => counters.iter().for_each(|(counter, left)| wave.pending.wait(*counter, *left)),
        Op::Branch { condition, to } => {
            if holds(wave, *condition)? {
                return Ok(Next::Jump(*to));
            }
        }
        Op::GetPc(to) => set_wide(wave, *to, around.code + instruction.pc + 4)?,
        Op::SetPc { to, link } => {
            let (target, undefined, origin) = wave.read_scalar(*to)?;
            wave.decide("a jump", u32::from(undefined != 0), origin)?;
            if let Some(link) = link {
                set_wide(wave, *link, around.code + instruction.pc + 4)?;
            }
            return Ok(Next::Jump(target.wrapping_sub(around.code)));
        }
        Op::Call { to, link } => {
            set_wide(wave, *link, around.code + instruction.pc + 4)?;
            return Ok(Next::Jump(*to));
        }
        Op::SetMode { from, width, value } => {
            let (value, undefined, origin) = wave.read_scalar(*value)?;
            wave.decide("MODE", u32::from(undefined != 0), origin)?;
            let mask = (u32::MAX >> (32 - width.min(&32))) << from;
            wave.mode.0 = wave.mode.0 & !mask | (value as u32) << from & mask;
        }
        Op::GetMode { from, width, to } => {
            let value = wave.mode.0 >> from & (u32::MAX >> (32 - width.min(&32)));
            wave.set_scalar(*to, value, 0, None)?;
        }
        Op::Barrier => {
            signal(wave, around)?;
            return Ok(Next::Barrier);
        }
        Op::BarrierSignal { is_first } => {
            if *is_first {
                return Err(FaultKind::Unsupported("s_barrier_signal_isfirst".into()).into());
            }
            signal(wave, around)?;
        }
        Op::BarrierWait => {
            if wave.waited + 1 != wave.signalled {
                return Err(FaultKind::DivergentBarrier(
                    "a wait for a barrier that the wave has not signalled".into(),
                )
                .into());
            }
            return Ok(Next::Barrier);
        }
        Op::End => return Ok(Next::End),
        Op::Trap => return Err(FaultKind::Trap.into()),
        Op::Hint => {}
        Op::Unsupported(what) => return Err(FaultKind::Unsupported(what.clone()).into()),
    }
    Ok(Next::Step)
}

fn set_wide(wave: &mut Wave, register: u8, value: u64) -> Step {
    wave.set_scalar(register, value as u32, 0, None)?;
    wave.set_scalar(register + 1, (value >> 32) as u32, 0, None)
}

fn holds(wave: &Wave, condition: Condition) -> Step<bool> {
    Ok(match condition {
        Condition::Always => true,
        Condition::Scc(expected) => {
            wave.decide("a branch", u32::from(wave.scc_undefined), None)?;
            wave.scc == expected
        }
        Condition::VccZero(expected) => {
            wave.decide("a branch", wave.scalar_undefined(VCC), wave.scalar_origin(VCC))?;
            (wave.scalar(VCC)? == 0) == expected
        }
        Condition::ExecZero(expected) => (wave.exec == 0) == expected,
    })
}

/// The wave arrives at a barrier. What it has under way in LDS is not separated by it from what others do afterwards.
fn signal(wave: &mut Wave, around: &mut Surroundings<'_>) -> Step {
    if wave.exec != wave.started {
        let (exec, started) = (wave.exec, wave.started);
        let what = format!("lanes {exec:#010x} are at it, of {started:#010x}");
        return Err(FaultKind::DivergentBarrier(what).into());
    }
    wave.signalled += 1;
    let who = who(wave);
    for touched in wave.pending.lds() {
        for lane in (0..32).filter(|lane| touched.exec >> lane & 1 != 0) {
            around.lds.extend(touched.addresses[lane], touched.bytes, touched.writes, who);
        }
    }
    Ok(())
}

pub(crate) fn who(wave: &Wave) -> Who {
    Who { wave: wave.id, signalled: wave.signalled, waited: wave.waited }
}

/// The counter of LDS operations.
fn lds_counter(wave: &Wave) -> Counter {
    if wave.is_gfx12 { Counter::Lds } else { Counter::LdsAndScalar }
}
