//! The vector unit, lane by lane.

use crate::fault::Step;
use crate::instruction::{Compute, Dpp, Finish, Input, Output, Source, Vector};
use crate::isa::{Env, Mixed};
use crate::number::{F16, nearest, two_sum};
use crate::operand::scalar::VCC;
use crate::wave::{Lanes, Origin, Wave};

/// A result before it is written.
struct Made {
    values: Lanes,
    mask: Lanes,
    lanes: u32,
    undefined: u32,
    origin: Option<Origin>,
}

pub(super) fn execute(wave: &mut Wave, vector: &Vector) -> Step {
    let made = make(wave, vector)?;
    put(wave, vector, &made)
}

/// Both halves read before either writes.
pub(super) fn dual(wave: &mut Wave, both: &[Vector; 2]) -> Step {
    let [first, second] = [make(wave, &both[0])?, make(wave, &both[1])?];
    put(wave, &both[0], &first)?;
    put(wave, &both[1], &second)
}

fn put(wave: &mut Wave, vector: &Vector, made: &Made) -> Step {
    if vector.mask != Output::Nowhere {
        wave.write(vector.mask, &made.mask, made.lanes, made.undefined, made.origin)?;
    }
    wave.write(vector.output, &made.values, made.lanes, made.undefined, made.origin)
}

fn make(wave: &Wave, vector: &Vector) -> Step<Made> {
    let mut made = Made { values: [0; 32], mask: [0; 32], lanes: wave.exec, undefined: 0, origin: None };
    // A scalar result does not ask which lanes are on.
    if let Output::Scalar(_) = vector.output {
        made.lanes = u32::MAX;
    }
    let mut sources = [[0; 32]; 3];
    let mut undefined = [0; 3];
    for i in 0..vector.count {
        let (lanes, origin) = wave.read(&vector.inputs[i], &mut sources[i])?;
        undefined[i] = lanes;
        made.origin = made.origin.or(origin);
    }
    if let Some(dpp) = &vector.dpp {
        move_lanes(wave, dpp, &vector.inputs[0], &mut sources[0], &mut undefined[0], &mut made.lanes);
    }
    made.undefined = if vector.selects {
        select_undefined(&sources[2], undefined)
    } else {
        undefined[0] | undefined[1] | undefined[2]
    };
    let vcc = if vector.reads_vcc {
        let lanes = wave.scalar_undefined(VCC);
        made.undefined |= lanes;
        made.origin = made.origin.or(if lanes == 0 { None } else { wave.scalar_origin(VCC) });
        wave.scalar(VCC)?
    } else {
        0
    };
    let env = |lane: usize| Env { mode: wave.mode, lane: lane as u32, vcc: vcc >> lane & 1 != 0 };
    let [a, b, c] = &sources;
    let on = made.lanes;
    let is_on = |lane: &usize| on >> lane & 1 != 0;
    match vector.compute {
        Compute::Lane(run) => {
            for lane in (0..32).filter(is_on) {
                made.values[lane] = run(env(lane), [a[lane], b[lane], c[lane]]);
            }
        }
        Compute::LaneAndMask(run) => {
            for lane in (0..32).filter(is_on) {
                let (value, mask) = run(env(lane), [a[lane], b[lane], c[lane]]);
                (made.values[lane], made.mask[lane]) = (value, u64::from(mask));
            }
        }
        Compute::Compare(comparison) => {
            for lane in (0..32).filter(is_on) {
                made.values[lane] = u64::from(comparison.holds(env(lane), a[lane], b[lane]));
            }
        }
        Compute::Packed(run) => {
            let mut high = [[0; 32]; 3];
            for i in 0..vector.count {
                let (lanes, origin) = wave.read(&vector.high[i], &mut high[i])?;
                made.undefined |= lanes;
                made.origin = made.origin.or(origin);
            }
            let finish = |value| finish_f16(value, vector.finish);
            for lane in (0..32).filter(is_on) {
                let low = finish(run(env(lane), [a[lane], b[lane], c[lane]]));
                let high = finish(run(env(lane), [high[0][lane], high[1][lane], high[2][lane]]));
                made.values[lane] = low | high << 16;
            }
            return Ok(made);
        }
        Compute::Mixed(mixed) => {
            let halves = vector.high.map(|input| input.source == Source::Constant(1));
            for lane in (0..32).filter(is_on) {
                made.values[lane] = mix(env(lane), mixed, halves, [a[lane], b[lane], c[lane]]);
            }
        }
    }
    if vector.finish != Finish::default() {
        finish(&mut made.values, vector.width, vector.finish);
    }
    Ok(made)
}

/// A selection takes what is undefined from the side that it takes.
fn select_undefined(mask: &Lanes, [a, b, c]: [u32; 3]) -> u32 {
    let taken = (0..32).filter(|lane| mask[*lane] != 0).fold(0u32, |all, lane| all | 1 << lane);
    c | b & taken | a & !taken
}

fn move_lanes(wave: &Wave, dpp: &Dpp, input: &Input, source: &mut Lanes, undefined: &mut u32, on: &mut u32) {
    let (old, old_undefined) = (*source, *undefined);
    *on &= dpp.enabled;
    *undefined = 0;
    for lane in 0..32 {
        let from = dpp.from[lane];
        let is_valid = from < 32 && (dpp.fetch_inactive || wave.exec >> from & 1 != 0);
        if is_valid {
            source[lane] = old[usize::from(from)];
            *undefined |= (old_undefined >> from & 1) << lane;
        } else if dpp.bound_ctrl {
            source[lane] = 0 & !input.clear ^ input.flip;
        } else {
            *on &= !(1 << lane);
        }
    }
}

fn mix(env: Env, mixed: Mixed, halves: [bool; 3], sources: [u64; 3]) -> u64 {
    let number =
        |i: usize| if halves[i] { env.mode.f16(sources[i]) } else { f64::from(env.mode.f32(sources[i])) };
    let (sum, rest) = two_sum(number(0) * number(1), number(2));
    match mixed {
        Mixed::Whole => env.mode.put_exact(sum, rest),
        Mixed::Low | Mixed::High => env.mode.put_f16(sum, rest),
    }
}

fn finish(values: &mut Lanes, width: u8, finish: Finish) {
    for value in values {
        *value = match width {
            16 => finish_f16(*value, finish),
            64 => finished(f64::from_bits(*value), finish).to_bits(),
            _ => u64::from((finished(f64::from(f32::from_bits(*value as u32)), finish) as f32).to_bits()),
        };
    }
}

fn finish_f16(value: u64, finish: Finish) -> u64 {
    if finish == Finish::default() {
        return value;
    }
    let x = half::f16::from_bits(value as u16).to_f64();
    crate::number::f16_bits(nearest(finished(x, finish), F16))
}

/// The output modifier, then the clamp; a NaN is clamped to zero.
fn finished(x: f64, finish: Finish) -> f64 {
    let x = if finish.factor == 0.0 { x } else { x * f64::from(finish.factor) };
    match finish.clamp {
        true if x.is_nan() => 0.0,
        true => x.clamp(0.0, 1.0),
        false => x,
    }
}
