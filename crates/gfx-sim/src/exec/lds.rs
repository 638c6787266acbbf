//! LDS instructions.

use super::{Surroundings, lds_counter, who};
use crate::fault::{FaultKind, Step, of_lane};
use crate::instruction::{Change, Datum, LdsOp};
use crate::pending::{Registers, Touched};
use crate::wave::{Origin, Wave};

pub(super) fn execute(wave: &mut Wave, around: &mut Surroundings<'_>, operation: &LdsOp) -> Step {
    match *operation {
        LdsOp::Load { to, address, datum, offset } => {
            let addresses = addresses(wave, address, offset)?;
            begin(wave, to, datum.registers())?;
            load(wave, around, &addresses, to, datum)?;
            finish(wave, Some((to, datum.registers())), &[addresses], datum.bytes(), false);
        }
        LdsOp::Load2 { to, address, words, offsets } => {
            let both = [addresses(wave, address, offsets[0])?, addresses(wave, address, offsets[1])?];
            begin(wave, to, 2 * words)?;
            load(wave, around, &both[0], to, Datum::Words(words))?;
            load(wave, around, &both[1], to + words, Datum::Words(words))?;
            finish(wave, Some((to, 2 * words)), &both, 4 * u32::from(words), false);
        }
        LdsOp::Store { address, data, datum, offset } => {
            let addresses = addresses(wave, address, offset)?;
            store(wave, around, &addresses, data, datum)?;
            finish(wave, None, &[addresses], datum.bytes(), true);
        }
        LdsOp::Store2 { address, data, words, offsets } => {
            let both = [addresses(wave, address, offsets[0])?, addresses(wave, address, offsets[1])?];
            store(wave, around, &both[0], data[0], Datum::Words(words))?;
            store(wave, around, &both[1], data[1], Datum::Words(words))?;
            finish(wave, None, &both, 4 * u32::from(words), true);
        }
        LdsOp::Change { address, data, change, old, offset } => {
            let addresses = addresses(wave, address, offset)?;
            update(wave, around, &addresses, data, change, old)?;
            finish(wave, old.map(|old| (old, 1)), &[addresses], 4, true);
        }
        LdsOp::Permute { to, address, data, offset, backward } => {
            permute(wave, to, address, data, offset, backward)?;
        }
        LdsOp::Swizzle { to, data, pattern } => swizzle(wave, to, data, pattern)?,
    }
    Ok(())
}

/// What the operation will write must not be under way from elsewhere.
fn begin(wave: &Wave, to: u8, count: u8) -> Step {
    wave.check_landing(Registers { is_vector: true, first: to, count }, lds_counter(wave))
}

fn finish(wave: &mut Wave, registers: Option<(u8, u8)>, addresses: &[[u32; 32]], bytes: u32, writes: bool) {
    let counter = lds_counter(wave);
    let exec = wave.exec;
    let mut registers = registers.map(|(first, count)| Registers { is_vector: true, first, count });
    let touched = |addresses: &[u32; 32]| Touched { addresses: *addresses, exec, bytes, writes };
    // The counter counts instructions: of two addresses the second rides with the first.
    match addresses {
        [first, second] => {
            wave.pending.issue_pair(counter, registers.take(), touched(first), touched(second));
        }
        _ => wave.pending.issue(counter, true, registers, addresses.first().map(touched)),
    }
}

fn addresses(wave: &Wave, register: u8, offset: u32) -> Step<[u32; 32]> {
    let undefined = wave.vector_undefined(register) & wave.exec;
    wave.decide("an LDS address", undefined, wave.vector_origin(register))?;
    Ok(wave.vector(register)?.map(|address| address.wrapping_add(offset)))
}

fn check(around: &Surroundings<'_>, lane: usize, address: u32, bytes: u32) -> Step {
    let size = around.lds.size();
    if u64::from(address) + u64::from(bytes) > u64::from(size) {
        let kind = FaultKind::LdsOutOfBounds { address: address.into(), bytes, size };
        return Err(of_lane(lane as u32, kind));
    }
    // The unaligned mode of HSA takes any multiple of a word for the wide ones.
    let alignment = bytes.min(4);
    if !address.is_multiple_of(alignment) {
        let kind = FaultKind::Misaligned { address: address.into(), bytes, alignment };
        return Err(of_lane(lane as u32, kind));
    }
    Ok(())
}

fn lanes(exec: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| exec >> lane & 1 != 0)
}

fn nothing_written(wave: &Wave) -> Option<Origin> {
    Some(Origin { is_vector: true, register: 0, pc: wave.pc, memory: Some("LDS") })
}

fn load(wave: &mut Wave, around: &mut Surroundings<'_>, addresses: &[u32; 32], to: u8, datum: Datum) -> Step {
    let (who, exec) = (who(wave), wave.exec);
    let bytes = datum.bytes();
    for lane in lanes(exec) {
        check(around, lane, addresses[lane], bytes)?;
    }
    let origin = nothing_written(wave);
    let in_lane = |lane: usize| move |kind| of_lane(lane as u32, kind);
    if let Datum::Words(words) = datum {
        for word in 0..words {
            let (mut values, mut undefined) = ([0; 32], 0);
            for lane in lanes(exec) {
                let loaded =
                    around.lds.load(addresses[lane] + 4 * u32::from(word), who).map_err(in_lane(lane))?;
                values[lane] = loaded.0;
                undefined |= u32::from(loaded.1 != 15) << lane;
            }
            wave.land_vector(to + word, &values, exec, undefined, origin);
        }
        return Ok(());
    }
    let (mut values, mut undefined) = ([0; 32], 0);
    for lane in lanes(exec) {
        let loaded = around.lds.load_part(addresses[lane], bytes, who).map_err(in_lane(lane))?;
        values[lane] = extended(loaded.0, datum);
        undefined |= u32::from(!loaded.1) << lane;
    }
    match datum {
        Datum::Half { high, .. } => wave.land_half(to, high, &values, exec, undefined, origin),
        _ => wave.land_vector(to, &values, exec, undefined, origin),
    }
    Ok(())
}

/// One byte or two as the register gets them.
pub(super) fn extended(value: u32, datum: Datum) -> u32 {
    match datum {
        Datum::Extended { bytes: 1, signed: true } | Datum::Half { bytes: 1, signed: true, .. } => {
            i32::from(value as i8) as u32
        }
        Datum::Extended { bytes: 2, signed: true } => i32::from(value as i16) as u32,
        _ => value,
    }
}

fn store(
    wave: &mut Wave,
    around: &mut Surroundings<'_>,
    addresses: &[u32; 32],
    data: u8,
    datum: Datum,
) -> Step {
    let (who, exec) = (who(wave), wave.exec);
    for lane in lanes(exec) {
        check(around, lane, addresses[lane], datum.bytes())?;
    }
    for word in 0..datum.registers() {
        let values = *wave.vector(data + word)?;
        let undefined = stored_undefined(wave, data + word, datum);
        let shift = if let Datum::Half { high: true, .. } = datum { 16 } else { 0 };
        for lane in lanes(exec) {
            let address = addresses[lane] + 4 * u32::from(word);
            let is_defined = undefined >> lane & 1 == 0;
            around
                .lds
                .store(address, values[lane] >> shift, datum.bytes().min(4), is_defined, who)
                .map_err(|kind| of_lane(lane as u32, kind))?;
        }
    }
    Ok(())
}

/// The lanes of which what is stored is not defined.
pub(super) fn stored_undefined(wave: &Wave, register: u8, datum: Datum) -> u32 {
    match datum {
        Datum::Words(_) => wave.vector_undefined(register),
        Datum::Extended { .. } => wave.half_undefined(register, false),
        Datum::Half { high, .. } => wave.half_undefined(register, high),
    }
}

fn update(
    wave: &mut Wave,
    around: &mut Surroundings<'_>,
    addresses: &[u32; 32],
    data: u8,
    change: Change,
    old: Option<u8>,
) -> Step {
    let (who, exec) = (who(wave), wave.exec);
    let values = *wave.vector(data)?;
    wave.decide("what is stored", wave.vector_undefined(data) & exec, wave.vector_origin(data))?;
    let other = if change == Change::CompareSwap { *wave.vector(data + 1)? } else { values };
    if let Some(old) = old {
        begin(wave, old, 1)?;
    }
    let (mut results, mut undefined) = ([0; 32], 0);
    for lane in lanes(exec) {
        check(around, lane, addresses[lane], 4)?;
        let new = |old| changed(change, old, values[lane], other[lane]);
        let found =
            around.lds.update(addresses[lane], who, new).map_err(|kind| of_lane(lane as u32, kind))?;
        results[lane] = found.0;
        undefined |= u32::from(found.1 != 15) << lane;
    }
    let origin = nothing_written(wave);
    match old {
        Some(old) => wave.land_vector(old, &results, exec, undefined, origin),
        None => wave.decide("what is stored", undefined, origin)?,
    }
    Ok(())
}

/// The new value of an atomic operation.
pub(super) fn changed(change: Change, old: u32, data: u32, other: u32) -> u32 {
    let float = |f: fn(f32, f32) -> f32| f(f32::from_bits(old), f32::from_bits(data)).to_bits();
    match change {
        Change::AddU32 => old.wrapping_add(data),
        Change::SubU32 => old.wrapping_sub(data),
        Change::AndB32 => old & data,
        Change::OrB32 => old | data,
        Change::XorB32 => old ^ data,
        Change::MinU32 => old.min(data),
        Change::MaxU32 => old.max(data),
        Change::MinI32 => (old as i32).min(data as i32) as u32,
        Change::MaxI32 => (old as i32).max(data as i32) as u32,
        Change::AddF32 => float(|a, b| a + b),
        Change::MinF32 => float(f32::min),
        Change::MaxF32 => float(f32::max),
        Change::Swap => data,
        Change::CompareSwap => {
            if old == other {
                data
            } else {
                old
            }
        }
    }
}

fn permute(wave: &mut Wave, to: u8, address: u8, data: u8, offset: u32, backward: bool) -> Step {
    let exec = wave.exec;
    let addresses = addresses(wave, address, offset)?;
    let values = *wave.vector(data)?;
    let (undefined, origin) = (wave.vector_undefined(data), wave.vector_origin(data));
    begin(wave, to, 1)?;
    // A lane that is off gives zero, as does one that nobody sends to.
    let (mut results, mut result_undefined) = ([0; 32], 0u32);
    for lane in lanes(exec) {
        let other = (addresses[lane] / 4 % 32) as usize;
        let (source, target) = if backward { (other, lane) } else { (lane, other) };
        if exec >> source & 1 != 0 {
            results[target] = values[source];
            result_undefined = result_undefined & !(1 << target) | (undefined >> source & 1) << target;
        }
    }
    wave.land_vector(to, &results, exec, result_undefined, origin);
    finish(wave, Some((to, 1)), &[], 0, false);
    Ok(())
}

fn swizzle(wave: &mut Wave, to: u8, data: u8, pattern: u16) -> Step {
    let exec = wave.exec;
    let values = *wave.vector(data)?;
    let (undefined, origin) = (wave.vector_undefined(data), wave.vector_origin(data));
    begin(wave, to, 1)?;
    let source = |lane: usize| match pattern {
        // Within each four lanes.
        p if p & 0xff00 == 0x8000 => lane & 28 | usize::from(p >> (2 * (lane & 3)) & 3),
        p => {
            let (and, or, xor) = (usize::from(p & 31), usize::from(p >> 5 & 31), usize::from(p >> 10 & 31));
            (lane & and | or) ^ xor
        }
    };
    if pattern >= 0xc000 {
        return Err(FaultKind::Unsupported("a rotating swizzle".into()).into());
    }
    let (mut results, mut result_undefined) = ([0; 32], 0);
    for lane in lanes(exec) {
        let from = source(lane);
        if exec >> from & 1 != 0 {
            results[lane] = values[from];
            result_undefined |= (undefined >> from & 1) << lane;
        }
    }
    wave.land_vector(to, &results, exec, result_undefined, origin);
    finish(wave, Some((to, 1)), &[], 0, false);
    Ok(())
}
