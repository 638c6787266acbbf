//! Scalar loads; global, flat, scratch and buffer memory.

use super::lds::{changed, extended, stored_undefined};
use super::{Surroundings, lds_counter};
use crate::fault::{Counter, FaultKind, Step, of_lane};
use crate::instruction::{Change, Datum, Memory, Source, Space, Transfer};
use crate::operand::{PRIVATE_BASE, SHARED_BASE};
use crate::pending::Registers;
use crate::wave::{Origin, Wave};

pub(super) struct ScalarLoad {
    pub(super) to: u8,
    pub(super) words: u8,
    pub(super) part: Option<(u8, bool)>,
    pub(super) base: u8,
    pub(super) offset: i64,
    pub(super) register: Option<Source>,
    pub(super) buffer: bool,
}

pub(super) fn scalar_load(wave: &mut Wave, around: &Surroundings<'_>, load: &ScalarLoad) -> Step {
    let mut offset = load.offset;
    if let Some(register) = load.register {
        let (value, undefined, origin) = wave.read_scalar(register)?;
        wave.decide("a scalar load's address", u32::from(undefined != 0), origin)?;
        offset += value as i64;
    }
    for register in 0..if load.buffer { 3 } else { 2 } {
        let register = load.base + register;
        wave.decide(
            "a scalar load's address",
            wave.scalar_undefined(register),
            wave.scalar_origin(register),
        )?;
    }
    let base = wave.scalar_wide(load.base)?;
    let limit = if load.buffer { Some(wave.scalar(load.base + 2)?) } else { None };
    let base = if load.buffer { base & 0xffff_ffff_ffff } else { base };
    let counter = if wave.is_gfx12 { Counter::Scalar } else { Counter::LdsAndScalar };
    let registers = Registers { is_vector: false, first: load.to, count: load.words };
    wave.check_landing(registers, counter)?;
    for word in 0..load.words {
        let place = offset + 4 * i64::from(word);
        let bytes = load.part.map_or(4, |(bytes, _)| u32::from(bytes));
        if limit.is_some_and(|limit| place + i64::from(bytes) > i64::from(limit)) {
            wave.land_scalar(load.to + word, 0, false);
            continue;
        }
        // The hardware drops the low bits of a word's address without a word.
        let address = base.wrapping_add_signed(place);
        if !address.is_multiple_of(bytes.into()) {
            return Err(FaultKind::Misaligned { address, bytes, alignment: bytes }.into());
        }
        let (mut value, is_defined) = around.memory.load_part(around.memory.find(address, bytes)?, bytes);
        if let Some((bytes, signed)) = load.part {
            value = extended(value, Datum::Extended { bytes, signed });
        }
        wave.land_scalar(load.to + word, value, !is_defined);
    }
    wave.pending.issue(counter, false, Some(registers), None);
    Ok(())
}

/// Where one lane's access goes.
#[derive(Clone, Copy)]
enum Target {
    Global(u64),
    Lds(u32),
    /// A lane and its own address.
    Scratch(u8, u64),
    /// Beyond a buffer's end: a load gives zero, a store does nothing. Words from this one on.
    Cut {
        address: u64,
        words: u32,
    },
}

pub(super) fn execute(wave: &mut Wave, around: &mut Surroundings<'_>, memory: &Memory) -> Step {
    let targets = targets(wave, memory)?;
    let is_flat = matches!(memory.space, Space::Flat { .. });
    let result = Registers { is_vector: true, first: memory.result, count: memory.datum.registers() };
    match memory.transfer {
        Transfer::Load => {
            wave.check_landing(result, Counter::Load)?;
            load(wave, around, memory, &targets)?;
            wave.pending.issue(Counter::Load, !is_flat, Some(result), None);
        }
        Transfer::Store => {
            store(wave, around, memory, &targets)?;
            wave.pending.issue(Counter::Store, true, None, None);
        }
        Transfer::Change(change, returns) => {
            update(wave, around, memory, &targets, change, returns)?;
            if returns {
                wave.pending.issue(Counter::Load, !is_flat, Some(result), None);
            } else {
                wave.pending.issue(Counter::Store, true, None, None);
            }
        }
    }
    // A generic access may be one of LDS, and counts there too.
    if is_flat {
        let registers = if memory.transfer == Transfer::Store { None } else { Some(result) };
        wave.pending.issue(lds_counter(wave), false, registers, None);
    }
    Ok(())
}

fn lanes(exec: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| exec >> lane & 1 != 0)
}

fn address_of(wave: &Wave, register: u8, wide: bool) -> Step<[u64; 32]> {
    for register in register..=register + u8::from(wide) {
        wave.decide("an address", wave.vector_undefined(register) & wave.exec, wave.vector_origin(register))?;
    }
    let low = wave.vector(register)?;
    if !wide {
        return Ok(low.map(u64::from));
    }
    let high = wave.vector(register + 1)?;
    Ok(std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32))
}

fn scalar_part(wave: &Wave, source: Source) -> Step<u64> {
    let (value, undefined, origin) = wave.read_scalar(source)?;
    wave.decide("an address", u32::from(undefined != 0), origin)?;
    Ok(value)
}

fn targets(wave: &Wave, memory: &Memory) -> Step<[Target; 32]> {
    let offset = memory.offset;
    let mut targets = match memory.space {
        Space::Global { address, base: None } => address_of(wave, address, true)?
            .map(|address| Target::Global(address.wrapping_add_signed(offset))),
        Space::Global { address, base: Some(base) } => {
            let base = scalar_part(wave, Source::ScalarWide(base))?;
            // The register's offset is unsigned, the instruction's signed.
            address_of(wave, address, false)?
                .map(|address| Target::Global(base.wrapping_add(address).wrapping_add_signed(offset)))
        }
        Space::Flat { address } => address_of(wave, address, true)?.map(|address| {
            let address = address.wrapping_add_signed(offset);
            match address >> 32 {
                high if high == SHARED_BASE >> 32 => Target::Lds(address as u32),
                high if high == PRIVATE_BASE >> 32 => Target::Scratch(0, address & 0xffff_ffff),
                _ => Target::Global(address),
            }
        }),
        Space::Scratch { address, base } => {
            let base = base.map_or(Ok(0), |base| scalar_part(wave, base))?;
            let own = address.map_or(Ok([0; 32]), |address| address_of(wave, address, false))?;
            own.map(|own| Target::Scratch(0, own.wrapping_add(base).wrapping_add_signed(offset)))
        }
        Space::Buffer { offset: vector, index, descriptor, base } => {
            let mut words = [0; 4];
            for (i, word) in words.iter_mut().enumerate() {
                *word = scalar_part(wave, Source::Scalar(descriptor + i as u8))?;
            }
            let stride = words[1] >> 16 & 0x3fff;
            if stride != 0 || index.is_some() || words[3] >> 23 & 1 != 0 && !wave.is_gfx12 {
                return Err(FaultKind::Unsupported("a structured or swizzled buffer".into()).into());
            }
            let start = words[0] | (words[1] & 0xffff) << 32;
            let scalar = scalar_part(wave, base)?;
            let own = vector.map_or(Ok([0; 32]), |vector| address_of(wave, vector, false))?;
            let bytes = u64::from(memory.datum.bytes());
            own.map(|own| {
                // A raw buffer: what lies beyond its bytes is cut, word by word.
                let place = own + scalar + offset as u64;
                let address = start.wrapping_add(place);
                if place + bytes <= words[2] {
                    return Target::Global(address);
                }
                let fitting = words[2].saturating_sub(place) / 4;
                Target::Cut { address, words: if bytes < 4 { 0 } else { fitting as u32 } }
            })
        }
    };
    for (number, target) in targets.iter_mut().enumerate() {
        if let Target::Scratch(lane, _) = target {
            *lane = number as u8;
        }
    }
    Ok(targets)
}

/// Whether word `word` of the access exists, and where.
fn word_at(target: Target, word: u32) -> Option<Target> {
    let by = u64::from(4 * word);
    match target {
        Target::Global(address) => Some(Target::Global(address + by)),
        Target::Lds(address) => Some(Target::Lds(address + 4 * word)),
        Target::Scratch(lane, address) => Some(Target::Scratch(lane, address + by)),
        Target::Cut { address, words } => (word < words).then(|| Target::Global(address + by)),
    }
}

/// Vector memory takes any address in the unaligned mode of HSA, and the compiler makes use of it for rows of 16-bit numbers; an odd address of
/// more than a byte is none that it would make. Atomic operations, and LDS, need whole words.
fn check_alignment(target: Target, bytes: u32, is_atomic: bool) -> Result<(), FaultKind> {
    let (address, alignment) = match target {
        Target::Global(address) | Target::Cut { address, .. } | Target::Scratch(_, address) => {
            (address, if is_atomic { 4 } else { bytes.min(2) })
        }
        Target::Lds(address) => (address.into(), bytes),
    };
    if address.is_multiple_of(u64::from(alignment)) {
        return Ok(());
    }
    Err(FaultKind::Misaligned { address, bytes, alignment })
}

fn load(wave: &mut Wave, around: &mut Surroundings<'_>, memory: &Memory, targets: &[Target; 32]) -> Step {
    let (exec, datum) = (wave.exec, memory.datum);
    let bytes = datum.bytes().min(4);
    for word in 0..datum.registers() {
        let (mut values, mut undefined) = ([0; 32], 0u32);
        for lane in lanes(exec) {
            let Some(target) = word_at(targets[lane], word.into()) else { continue };
            let in_lane = |kind| of_lane(lane as u32, kind);
            check_alignment(target, bytes, false).map_err(in_lane)?;
            let (value, is_defined) = load_one(wave, around, target, bytes).map_err(in_lane)?;
            values[lane] = extended(value, datum);
            undefined |= u32::from(!is_defined) << lane;
        }
        let origin = Some(Origin { is_vector: true, register: 0, pc: wave.pc, memory: Some("memory") });
        match datum {
            Datum::Half { high, .. } => wave.land_half(memory.result, high, &values, exec, undefined, origin),
            _ => wave.land_vector(memory.result + word, &values, exec, undefined, origin),
        }
    }
    Ok(())
}

fn load_one(
    wave: &Wave,
    around: &mut Surroundings<'_>,
    target: Target,
    bytes: u32,
) -> Result<(u32, bool), FaultKind> {
    match target {
        Target::Global(address) | Target::Cut { address, .. } => {
            let place = around.memory.find(address, bytes)?;
            Ok(around.memory.load_part(place, bytes))
        }
        Target::Lds(address) => {
            let size = around.lds.size();
            if u64::from(address) + u64::from(bytes) > size.into() {
                return Err(FaultKind::LdsOutOfBounds { address: address.into(), bytes, size });
            }
            around.lds.load_part_or_word(address, bytes, super::who(wave))
        }
        Target::Scratch(lane, address) => {
            let start = scratch_index(wave, lane, address, bytes)?;
            Ok((0..bytes as usize).fold((0, true), |(value, is_defined), i| {
                let byte = u32::from(wave.scratch.bytes[start + i]) << (8 * i);
                (value | byte, is_defined && wave.scratch.defined[start + i])
            }))
        }
    }
}

fn scratch_index(wave: &Wave, lane: u8, address: u64, bytes: u32) -> Result<usize, FaultKind> {
    let size = wave.scratch.size;
    if address.saturating_add(bytes.into()) > size.into() {
        return Err(FaultKind::ScratchOutOfBounds { address, bytes, size });
    }
    Ok((u64::from(lane) * u64::from(size) + address) as usize)
}

fn store(wave: &mut Wave, around: &mut Surroundings<'_>, memory: &Memory, targets: &[Target; 32]) -> Step {
    let (exec, datum) = (wave.exec, memory.datum);
    let bytes = datum.bytes().min(4);
    let shift = if let Datum::Half { high: true, .. } = datum { 16 } else { 0 };
    for word in 0..datum.registers() {
        let register = memory.data + word;
        let values = *wave.vector(register)?;
        let undefined = stored_undefined(wave, register, datum);
        for lane in lanes(exec) {
            let Some(target) = word_at(targets[lane], word.into()) else { continue };
            let in_lane = |kind| of_lane(lane as u32, kind);
            check_alignment(target, bytes, false).map_err(in_lane)?;
            let is_defined = undefined >> lane & 1 == 0;
            let value = values[lane] >> shift;
            match target {
                Target::Global(address) | Target::Cut { address, .. } => {
                    wave.decide("what is stored", undefined & 1 << lane, wave.vector_origin(register))?;
                    let place = around.memory.find(address, bytes).map_err(in_lane)?;
                    around.memory.check_store(place).map_err(in_lane)?;
                    around.memory.store(place, value, bytes);
                }
                Target::Lds(address) => {
                    let who = super::who(wave);
                    around.lds.checked_store(address, value, bytes, is_defined, who).map_err(in_lane)?;
                }
                Target::Scratch(lane, address) => {
                    let start = scratch_index(wave, lane, address, bytes).map_err(in_lane)?;
                    for i in 0..bytes as usize {
                        wave.scratch.bytes[start + i] = (value >> (8 * i)) as u8;
                        wave.scratch.defined[start + i] = is_defined;
                    }
                }
            }
        }
    }
    Ok(())
}

fn update(
    wave: &mut Wave,
    around: &mut Surroundings<'_>,
    memory: &Memory,
    targets: &[Target; 32],
    change: Change,
    returns: bool,
) -> Step {
    let exec = wave.exec;
    let values = *wave.vector(memory.data)?;
    wave.decide(
        "what is stored",
        wave.vector_undefined(memory.data) & exec,
        wave.vector_origin(memory.data),
    )?;
    let other = if change == Change::CompareSwap { *wave.vector(memory.data + 1)? } else { values };
    let mut results = [0; 32];
    for lane in lanes(exec) {
        let in_lane = |kind| of_lane(lane as u32, kind);
        let Some(target) = word_at(targets[lane], 0) else { continue };
        check_alignment(target, 4, true).map_err(in_lane)?;
        let Target::Global(address) = target else {
            return Err(in_lane(FaultKind::Unsupported(
                "an atomic operation outside of global memory".into(),
            )));
        };
        let place = around.memory.find(address, 4).map_err(in_lane)?;
        around.memory.check_store(place).map_err(in_lane)?;
        results[lane] = around.memory.update(place, |old| changed(change, old, values[lane], other[lane]));
    }
    if returns {
        let registers = Registers { is_vector: true, first: memory.result, count: 1 };
        wave.check_landing(registers, Counter::Load)?;
        wave.land_vector(memory.result, &results, exec, 0, None);
    }
    Ok(())
}
