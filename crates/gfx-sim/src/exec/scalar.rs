//! The scalar unit.

use crate::fault::{FaultKind, Step};
use crate::instruction::{ExecOp, Input, Output, ScalarOp};
use crate::isa::Comparison;
use crate::wave::{Origin, Wave};

/// A source with its signs: value, undefined bits, why.
fn read(wave: &Wave, input: &Input) -> Step<(u64, u64, Option<Origin>)> {
    let (value, undefined, origin) = wave.read_scalar(input.source)?;
    Ok((value & !input.clear ^ input.flip, undefined, origin))
}

/// What replaces bits that are not defined, to see which bits of the result change with them.
const REPLACEMENTS: [u64; 4] = [0, u64::MAX, 0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa];

pub(super) fn execute(wave: &mut Wave, operation: &ScalarOp) -> Step {
    let (mut values, mut undefined, mut origin) = ([0; 3], [0; 3], None);
    for i in 0..operation.count {
        let why;
        (values[i], undefined[i], why) = read(wave, &operation.inputs[i])?;
        origin = origin.or(why);
    }
    let (value, scc) = (operation.run)(wave.mode, values, wave.scc);
    let (mut changed, mut scc_changes) = (0, false);
    let is_scc_unknown = operation.reads_scc && wave.scc_undefined;
    if undefined != [0; 3] || is_scc_unknown {
        for replacement in REPLACEMENTS {
            let others = std::array::from_fn(|i| values[i] & !undefined[i] | replacement & undefined[i]);
            let scc_in = if is_scc_unknown { replacement == 0 } else { wave.scc };
            let (other, other_scc) = (operation.run)(wave.mode, others, scc_in);
            changed |= other ^ value;
            scc_changes |= other_scc != scc;
        }
    }
    if operation.writes_scc {
        (wave.scc, wave.scc_undefined) = (scc, scc_changes);
    }
    match operation.output {
        Output::Scalar(register) => wave.set_scalar(register, value as u32, changed as u32, origin),
        Output::ScalarWide(register) => {
            wave.set_scalar(register, value as u32, changed as u32, origin)?;
            wave.set_scalar(register + 1, (value >> 32) as u32, (changed >> 32) as u32, origin)
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
