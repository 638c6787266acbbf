//! Checks that a GPU computes.

use super::{Check, handoff, product, sample};
use crate::catalogue::{Catalogue, Entry};
use crate::element::Element;
use crate::plan::ARENA;
use crate::reference;
use crate::rms_norm::{self, RmsNorm};
use gfx::Target;
use hip::{MemoryInfo, Runtime};

/// Rows and columns: less than a vector, whole vectors only, and some columns left over.
const SHAPES: [[usize; 2]; 3] = [[3, 1], [2, 2048], [3, 5003]];
const EPSILON: f32 = 1e-6;

/// The names of the checks, for when they are skipped.
pub const NAMES: [&str; 5] = [
    "arena on the device",
    "rms_norm on the device",
    "matrix product on the device",
    "hipBLASLt product on the device",
    "handoff through mapped memory",
];

/// Makes every check on the current device, whose target is `card`.
pub fn checks(runtime: &Runtime, memory: MemoryInfo, catalogue: &Catalogue, card: Target) -> Vec<Check> {
    let find = |name: &str| catalogue.find(name, card).ok_or_else(|| format!("there is no code for {card}"));
    let rows = find("rows");
    vec![
        Check::of(NAMES[0], arena(runtime, memory)),
        Check::of(NAMES[1], find(rms_norm::NAME).and_then(|entry| rms_norm(runtime, entry))),
        Check::of(NAMES[2], find("matrix").and_then(|entry| product::by_kernel(runtime, entry))),
        product::by_blas(NAMES[3], runtime),
        Check::of(NAMES[4], rows.and_then(|entry| handoff::check(runtime, entry))),
    ]
}

/// Memory holds what was written, and more than there is is refused.
fn arena(runtime: &Runtime, memory: MemoryInfo) -> Result<String, String> {
    const POISON: u8 = 0xa5;
    let len = usize::try_from(ARENA).map_err(|error| error.to_string())?;
    let mut buffer = runtime.allocate(len).map_err(|error| error.to_string())?;
    buffer.fill(POISON).map_err(|error| error.to_string())?;
    let bytes = buffer.read().map_err(|error| error.to_string())?;
    if let Some(at) = bytes.iter().position(|byte| *byte != POISON) {
        return Err(format!("byte {at} of {len} is {:#04x}, not {POISON:#04x}", bytes[at]));
    }
    let too_much = usize::try_from(memory.total.saturating_mul(4)).unwrap_or(usize::MAX / 2);
    match runtime.allocate(too_much) {
        Ok(_) => Err(format!("{too_much} bytes were allocated on a device that has {}", memory.total)),
        Err(_) => Ok(format!("{len} bytes hold what is written; four times the device's memory is refused")),
    }
}

fn rms_norm(runtime: &Runtime, entry: &Entry) -> Result<String, String> {
    let object = entry.object.as_ref().map_err(ToString::to_string)?;
    let kernels = RmsNorm::load(runtime, object, &entry.bytes).map_err(|error| error.to_string())?;
    let mut said = Vec::new();
    for element in Element::ALL {
        let mut worst = 0.0_f32;
        for [rows, columns] in SHAPES {
            let sample = |seed, count| -> Vec<f32> {
                sample::numbers(seed, count).iter().map(|number| element.round(*number)).collect()
            };
            let (input, weight) = (sample(1, rows * columns), sample(2, columns));
            let computed = kernels
                .compute(element, &input, &weight, EPSILON)
                .map_err(|error| format!("{element}: {error}"))?;
            let error = largest_error(&computed, &reference::rms_norm(&input, &weight, EPSILON));
            if error > element.tolerance() {
                let limit = element.tolerance();
                return Err(format!(
                    "{element}, {rows}x{columns}: off by {error:.2e}, more than {limit:.2e}"
                ));
            }
            worst = worst.max(error);
        }
        said.push(format!("{element} {worst:.1e}"));
    }
    Ok(format!("{} code, largest relative error {}", entry.target, said.join(", ")))
}

/// The largest error relative to the reference; numbers near 0 count by a thousandth, and what is no number is infinitely wrong.
fn largest_error(computed: &[f32], reference: &[f32]) -> f32 {
    let error = |(a, b): (&f32, &f32)| {
        let error = (a - b).abs() / (b.abs() + 1e-3);
        if error.is_nan() { f32::INFINITY } else { error }
    };
    computed.iter().zip(reference).map(error).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_infinitely_wrong() {
        assert_eq!(largest_error(&[1.0, 2.0], &[1.0, 2.0]), 0.0);
        assert!((largest_error(&[1.0, 3.0], &[1.0, 2.0]) - 0.5).abs() < 1e-3);
        assert_eq!(largest_error(&[f32::NAN, 2.0], &[1.0, 2.0]), f32::INFINITY);
        assert_eq!(largest_error(&[5.0, f32::NAN], &[1.0, 2.0]), f32::INFINITY);
    }
}
