//! The vector unit, lane by lane.

use crate::fault::Step;
use crate::instruction::{Compute, Dpp, Finish, Input, Output, Source, Vector};
use crate::isa::{Env, Mixed};
use crate::number::{F16, nearest, two_sum};
use crate::operand::scalar::VCC;
use crate::wave::{Lanes, Origin, Undefined, Wave, any};

/// What an operation reads: the three sources, and of packed operations three more.
struct Read {
    sources: [Lanes; 3],
    high: [Lanes; 3],
    vcc: u32,
    lanes: u32,
}

/// What of that is not defined.
#[derive(Default)]
struct Unknown {
    sources: [Undefined; 3],
    high: [Undefined; 3],
    vcc: u32,
    origin: Option<Origin>,
}

/// A result before it is written.
struct Made {
    values: Lanes,
    mask: Lanes,
    lanes: u32,
    undefined: Undefined,
    mask_undefined: u32,
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
        let undefined = [made.mask_undefined, 0, 0, 0];
        wave.write(vector.mask, &made.mask, made.lanes, undefined, made.origin)?;
    }
    wave.write(vector.output, &made.values, made.lanes, made.undefined, made.origin)
}

fn make(wave: &Wave, vector: &Vector) -> Step<Made> {
    let (read, unknown) = read(wave, vector)?;
    let (values, mask) = compute(wave, vector, &read);
    let mut made = Made {
        values,
        mask,
        lanes: read.lanes,
        undefined: [0; 4],
        mask_undefined: 0,
        origin: unknown.origin,
    };
    if unknown.origin.is_some() {
        find_undefined(wave, vector, &read, &unknown, &mut made);
    }
    Ok(made)
}

fn read(wave: &Wave, vector: &Vector) -> Step<(Read, Unknown)> {
    let mut read = Read { sources: [[0; 32]; 3], high: [[0; 32]; 3], vcc: 0, lanes: wave.exec };
    // A scalar result does not ask which lanes are on.
    if let Output::Scalar(_) = vector.output {
        read.lanes = u32::MAX;
    }
    let mut unknown = Unknown::default();
    for i in 0..vector.count {
        let (undefined, origin) = wave.read(&vector.inputs[i], &mut read.sources[i])?;
        unknown.sources[i] = undefined;
        unknown.origin = unknown.origin.or(origin);
    }
    if let Compute::Packed(_) = vector.compute {
        for i in 0..vector.count {
            let (undefined, origin) = wave.read(&vector.high[i], &mut read.high[i])?;
            unknown.high[i] = undefined;
            unknown.origin = unknown.origin.or(origin);
        }
    }
    if vector.reads_vcc {
        (read.vcc, unknown.vcc) = (wave.scalar(VCC)?, wave.scalar_undefined(VCC));
        unknown.origin = unknown.origin.or(if unknown.vcc == 0 { None } else { wave.scalar_origin(VCC) });
    }
    if let Some(dpp) = &vector.dpp {
        move_lanes(wave, dpp, &vector.inputs[0], &mut read, &mut unknown);
    }
    Ok((read, unknown))
}

/// What replaces bits that are not defined, to see whether they matter.
const REPLACEMENTS: [u64; 4] = [0, 0xffff, 0x3f80, 0xc2a5];

/// A part of a result is undefined if it changes with what its undefined sources hold: `v_and_b32` with a constant, a selection or a shift hide
/// them, most others do not. Parts are 16 bits wide.
fn find_undefined(wave: &Wave, vector: &Vector, read: &Read, unknown: &Unknown, made: &mut Made) {
    let all = unknown.sources.iter().chain(&unknown.high);
    let lanes = (all.fold(unknown.vcc, |lanes, parts| lanes | any(*parts))) & read.lanes;
    if lanes == 0 {
        return;
    }
    for replacement in REPLACEMENTS {
        let replaced = |source: &Lanes, undefined: &Undefined| -> Lanes {
            std::array::from_fn(|lane| {
                (0..4)
                    .filter(|part| undefined[*part as usize] >> lane & 1 != 0)
                    .fold(source[lane], |value, part| {
                        value & !(0xffff << (16 * part)) | replacement << (16 * part)
                    })
            })
        };
        let mut other = Read { sources: read.sources, high: read.high, vcc: read.vcc, lanes };
        for i in 0..vector.count {
            other.sources[i] = replaced(&read.sources[i], &unknown.sources[i]);
            // A mask has one bit.
            if let Source::Mask(_) = vector.inputs[i].source {
                other.sources[i].iter_mut().for_each(|bit| *bit &= 1);
            }
            other.high[i] = replaced(&read.high[i], &unknown.high[i]);
        }
        other.vcc = if replacement == 0 { read.vcc & !unknown.vcc } else { read.vcc | unknown.vcc };
        let (values, mask) = compute(wave, vector, &other);
        for lane in (0..32).filter(|lane| lanes >> lane & 1 != 0) {
            let changed = values[lane] ^ made.values[lane];
            for (part, undefined) in made.undefined.iter_mut().enumerate() {
                *undefined |= u32::from(changed >> (16 * part) & 0xffff != 0) << lane;
            }
            made.mask_undefined |= u32::from(mask[lane] != made.mask[lane]) << lane;
        }
    }
}

fn compute(wave: &Wave, vector: &Vector, read: &Read) -> (Lanes, Lanes) {
    let env = |lane: usize| Env { mode: wave.mode, lane: lane as u32, vcc: read.vcc >> lane & 1 != 0 };
    let [a, b, c] = &read.sources;
    let is_on = |lane: &usize| read.lanes >> lane & 1 != 0;
    let (mut values, mut mask) = ([0; 32], [0; 32]);
    match vector.compute {
        Compute::Lane(run) => {
            for lane in (0..32).filter(is_on) {
                values[lane] = run(env(lane), [a[lane], b[lane], c[lane]]);
            }
        }
        Compute::LaneAndMask(run) => {
            for lane in (0..32).filter(is_on) {
                let (value, bit) = run(env(lane), [a[lane], b[lane], c[lane]]);
                (values[lane], mask[lane]) = (value, u64::from(bit));
            }
        }
        Compute::Compare(comparison) => {
            for lane in (0..32).filter(is_on) {
                values[lane] = u64::from(comparison.holds(env(lane), a[lane], b[lane]));
            }
        }
        Compute::Packed(run) => {
            let finish = |value| finish_f16(value, vector.finish);
            let [x, y, z] = &read.high;
            for lane in (0..32).filter(is_on) {
                let low = finish(run(env(lane), [a[lane], b[lane], c[lane]]));
                values[lane] = low | finish(run(env(lane), [x[lane], y[lane], z[lane]])) << 16;
            }
            return (values, mask);
        }
        Compute::Mixed(mixed) => {
            let halves = vector.high.map(|input| input.source == Source::Constant(1));
            for lane in (0..32).filter(is_on) {
                values[lane] = mix(env(lane), mixed, halves, [a[lane], b[lane], c[lane]]);
            }
        }
    }
    let mut how = vector.finish;
    // Results that may be denormal have no output modifier: it is ignored.
    let keeps_denormals =
        if vector.width == 32 { wave.mode.denormals_32().1 } else { wave.mode.denormals_16_64().1 };
    if keeps_denormals {
        how.factor = 0.0;
    }
    if how != Finish::default() {
        finish(&mut values, vector.width, how);
    }
    (values, mask)
}

fn move_lanes(wave: &Wave, dpp: &Dpp, input: &Input, read: &mut Read, unknown: &mut Unknown) {
    let (old, old_undefined) = (read.sources[0], unknown.sources[0]);
    read.lanes &= dpp.enabled;
    unknown.sources[0] = [0; 4];
    for lane in 0..32 {
        let from = dpp.from[lane];
        if from < 32 && (dpp.fetch_inactive || wave.exec >> from & 1 != 0) {
            read.sources[0][lane] = old[usize::from(from)];
            for (part, old) in unknown.sources[0].iter_mut().zip(old_undefined) {
                *part |= (old >> from & 1) << lane;
            }
        } else if dpp.bound_ctrl {
            read.sources[0][lane] = input.flip;
        } else {
            read.lanes &= !(1 << lane);
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

/// The output modifier, then the clamp.
fn finished(x: f64, finish: Finish) -> f64 {
    let x = if finish.factor == 0.0 { x } else { x * f64::from(finish.factor) };
    match finish.clamp {
        // A NaN and -0 become 0.
        true => {
            if x > 0.0 {
                x.min(1.0)
            } else {
                0.0
            }
        }
        false => x,
    }
}
