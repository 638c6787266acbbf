//! Moves between lanes, and between the vector and the scalar unit.

use crate::fault::{FaultKind, Step};
use crate::instruction::{Across, Source};
use crate::wave::Wave;

pub(super) fn execute(wave: &mut Wave, across: &Across) -> Step {
    match *across {
        Across::ReadFirstLane { to, from } => {
            let Source::Vector(from) = from else {
                let (value, undefined, origin) = wave.read_scalar(from)?;
                return wave.set_scalar(to, value as u32, undefined as u32, origin);
            };
            // Without a lane that is on, lane 0.
            let lane = if wave.exec == 0 { 0 } else { wave.exec.trailing_zeros() };
            read_lane(wave, to, from, lane)
        }
        Across::ReadLane { to, from, lane } => {
            let lane = select(wave, lane)?;
            read_lane(wave, to, from, lane)
        }
        Across::WriteLane { to, value, lane } => {
            let lane = select(wave, lane)?;
            let (value, undefined, origin) = wave.read_scalar(value)?;
            let undefined = if undefined == 0 { 0 } else { u32::MAX };
            // EXEC is not asked.
            wave.set_vector(to, &[value as u32; 32], 1 << lane, undefined, origin)
        }
        Across::PermLane16 { to, from, select, crossed, fetch_inactive, bound_ctrl } => {
            let lanes = [word(wave, select[0])?, word(wave, select[1])?];
            let values = *wave.vector(from)?;
            let (undefined, origin) = (wave.vector_undefined(from), wave.vector_origin(from));
            let (mut result, mut result_undefined, mut on) = ([0; 32], 0, wave.exec);
            for (lane, result) in result.iter_mut().enumerate() {
                let place = lane & 15;
                let within = lanes[place / 8] >> (4 * (place % 8)) & 15;
                let row = if crossed { lane & 16 ^ 16 } else { lane & 16 };
                let source = row | within as usize;
                if fetch_inactive || wave.exec >> source & 1 != 0 {
                    *result = values[source];
                    result_undefined |= (undefined >> source & 1) << lane;
                } else if !bound_ctrl {
                    on &= !(1 << lane);
                }
            }
            wave.set_vector(to, &result, on, result_undefined, origin)
        }
        Across::PermLane64 { to, from } => {
            let values = *wave.vector(from)?;
            let (undefined, origin) = (wave.vector_undefined(from), wave.vector_origin(from));
            wave.set_vector(to, &values, wave.exec, undefined, origin)
        }
        Across::Swap { a, b } => {
            let (first, second) = (*wave.vector(a)?, *wave.vector(b)?);
            let undefined = [wave.vector_undefined(a), wave.vector_undefined(b)];
            let origins = [wave.vector_origin(a), wave.vector_origin(b)];
            wave.set_vector(a, &second, wave.exec, undefined[1], origins[1])?;
            wave.set_vector(b, &first, wave.exec, undefined[0], origins[0])
        }
    }
}

fn word(wave: &Wave, source: Source) -> Step<u32> {
    let (value, undefined, origin) = wave.read_scalar(source)?;
    wave.decide("which lane is read", u32::from(undefined != 0), origin)?;
    Ok(value as u32)
}

fn select(wave: &Wave, source: Source) -> Step<u32> {
    Ok(word(wave, source)? & 31)
}

fn read_lane(wave: &mut Wave, to: u8, from: u8, lane: u32) -> Step {
    let value = wave.vector(from)?[lane as usize];
    let is_undefined = wave.vector_undefined(from) >> lane & 1 != 0;
    let origin = wave.vector_origin(from);
    if to == crate::operand::scalar::EXEC {
        return Err(FaultKind::Unsupported("a lane read into EXEC".into()).into());
    }
    wave.set_scalar(to, value, if is_undefined { u32::MAX } else { 0 }, origin)
}
