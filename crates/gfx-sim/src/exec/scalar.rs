//! The scalar unit.

use crate::fault::{FaultKind, Step};
use crate::instruction::{Bitwise, ExecOp, Input, Output, ScalarOp};
use crate::isa::Comparison;
use crate::wave::{Origin, Wave};

/// A source with its signs: value, undefined bits, why.
fn read(wave: &Wave, input: &Input) -> Step<(u64, u64, Option<Origin>)> {
    let (value, undefined, origin) = wave.read_scalar(input.source)?;
    Ok((value & !input.clear ^ input.flip, undefined, origin))
}

pub(super) fn execute(wave: &mut Wave, operation: &ScalarOp) -> Step {
    let mut values = [0; 3];
    let mut undefined = [0; 3];
    let mut origin = None;
    for i in 0..operation.count {
        let why;
        (values[i], undefined[i], why) = read(wave, &operation.inputs[i])?;
        origin = origin.or(why);
    }
    let (value, scc) = (operation.run)(wave.mode, values, wave.scc);
    let [a, b, _] = values;
    let [ua, ub, uc] = undefined;
    let whole = |undefined: u64| if undefined == 0 { 0 } else { u64::MAX };
    let result = match operation.bits {
        Bitwise::No => {
            let selects = operation.reads_scc && !operation.writes_scc && operation.count == 2;
            let taken = if selects { if wave.scc { ua } else { ub } } else { ua | ub | uc };
            whole(taken) | if operation.reads_scc && wave.scc_undefined { u64::MAX } else { 0 }
        }
        Bitwise::Move => ua,
        // A zero that is defined decides.
        Bitwise::And => (ua | ub) & (a | ua) & (b | ub),
        Bitwise::AndNot => (ua | ub) & (a | ua) & (!b | ub),
        Bitwise::Or => (ua | ub) & (!a | ua) & (!b | ub),
        Bitwise::OrNot => (ua | ub) & (!a | ua) & (b | ub),
        Bitwise::Xor => ua | ub,
    };
    if operation.writes_scc {
        wave.scc = scc;
        wave.scc_undefined = result != 0 || ua | ub | uc != 0 && operation.bits == Bitwise::No;
    }
    match operation.output {
        Output::Scalar(register) => wave.set_scalar(register, value as u32, result as u32, origin),
        Output::ScalarWide(register) => {
            wave.set_scalar(register, value as u32, result as u32, origin)?;
            wave.set_scalar(register + 1, (value >> 32) as u32, (result >> 32) as u32, origin)
        }
        Output::Nowhere => Ok(()),
        _ => Err(FaultKind::Unsupported("a vector result of the scalar unit".into()).into()),
    }
}

pub(super) fn compare(wave: &mut Wave, comparison: Comparison, inputs: &[Input; 2]) -> Step {
    let (a, undefined_a, _) = read(wave, &inputs[0])?;
    let (b, undefined_b, _) = read(wave, &inputs[1])?;
    wave.scc = comparison.holds_of_scalars(wave.mode, a, b);
    wave.scc_undefined = undefined_a | undefined_b != 0;
    Ok(())
}

pub(super) fn exec(wave: &mut Wave, operation: &ExecOp) -> Step {
    let (value, undefined, origin) = read(wave, &operation.source)?;
    let old = wave.exec;
    let new = (operation.new)(value as u32, old);
    // A bit that is undefined matters where the other bit lets it through.
    let turned = (operation.new)(!value as u32, old);
    wave.decide("EXEC", undefined as u32 & (new ^ turned), origin)?;
    wave.exec = new;
    (wave.scc, wave.scc_undefined) = (new != 0, false);
    wave.set_scalar(operation.output, if operation.gives_new { new } else { old }, 0, None)
}
