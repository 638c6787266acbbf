//! A real matrix product against the CPU: on the matrix instructions by the engine's own kernel, and by hipBLASLt where it is.

use super::{Check, sample};
use crate::catalogue::Entry;
use crate::element::Element;
use crate::gguf::TensorType;
use crate::kernels::MultiplyMatrix;
use hip::{BlasElement, BlasLt, BlasProduct, DeviceBuffer, LoadError, Runtime};

/// No whole tiles of the kernel: rows of weights, rows of x, columns.
const ROWS: usize = 200;
const COUNT: usize = 77;
const COLUMNS: usize = 544;
/// Products of halves are exact in a float; their sum is off by roundings, in any order. Relative to the lengths of what is multiplied.
const BOUND: f64 = 1e-5;

/// Inputs on the device, and what is expected.
struct Problem {
    weights: DeviceBuffer,
    x: DeviceBuffer,
    out: DeviceBuffer,
    numbers: [Vec<f32>; 2],
}

impl Problem {
    fn new(runtime: &Runtime) -> Result<Self, String> {
        let element = Element::F16;
        let halves = |seed, count| -> Vec<f32> {
            sample::numbers(seed, count).iter().map(|number| element.round(*number)).collect()
        };
        let numbers = [halves(1, ROWS * COLUMNS), halves(2, COUNT * COLUMNS)];
        let upload =
            |numbers: &[f32]| runtime.upload(&element.encode(numbers)).map_err(|error| error.to_string());
        let mut out = runtime.allocate(ROWS * COUNT * 4).map_err(|error| error.to_string())?;
        // What is not written is no number.
        out.fill(0xff).map_err(|error| error.to_string())?;
        Ok(Self { weights: upload(&numbers[0])?, x: upload(&numbers[1])?, out, numbers })
    }

    fn judge(&self) -> Result<String, String> {
        let found = Element::F32.decode(&self.out.read().map_err(|error| error.to_string())?);
        let [weights, x] = &self.numbers;
        let mut worst = 0.0_f64;
        for (x, found) in x.chunks_exact(COLUMNS).zip(found.chunks_exact(ROWS)) {
            for (weights, found) in weights.chunks_exact(COLUMNS).zip(found) {
                worst = worst.max(error(weights, x, *found));
            }
        }
        let size = format!("{COUNT}x{COLUMNS} by {COLUMNS}x{ROWS}, f16");
        if worst <= BOUND {
            Ok(format!("{size}, largest error {worst:.1e}"))
        } else {
            Err(format!("{size}: off by {worst:.2e}, more than {BOUND:.0e}"))
        }
    }
}

/// Relative to the lengths of both vectors; what is no number is infinitely wrong.
fn error(weights: &[f32], x: &[f32], found: f32) -> f64 {
    let pairs = weights.iter().zip(x).map(|(w, x)| (f64::from(*w), f64::from(*x)));
    let (sum, w2, x2) =
        pairs.fold((0.0, 0.0, 0.0), |(sum, a, b), (w, x)| (sum + w * x, a + w * w, b + x * x));
    let error = (f64::from(found) - sum).abs() / (w2 * x2).sqrt().max(f64::MIN_POSITIVE);
    if error.is_nan() { f64::INFINITY } else { error }
}

pub(super) fn by_kernel(runtime: &Runtime, entry: &Entry) -> Result<String, String> {
    let problem = Problem::new(runtime)?;
    let call = MultiplyMatrix {
        out: problem.out.address(),
        weights: problem.weights.address(),
        x: problem.x.address(),
        columns: COLUMNS,
        rows: ROWS,
        count: COUNT,
        out_stride: ROWS,
    };
    let call = call.call(TensorType::F16);
    let run = || {
        let stream = runtime.stream()?;
        let function = runtime.load_module(&entry.bytes)?.function(&call.kernel)?;
        function.launch(&stream, call.launch, &call.arguments)?;
        stream.synchronize()
    };
    run().map_err(|error| error.to_string())?;
    Ok(format!("{} code, {}", entry.target, problem.judge()?))
}

/// Skipped where the library is not: the engine does without it.
pub(super) fn by_blas(name: &'static str, runtime: &Runtime) -> Check {
    let blas = match BlasLt::load(runtime, &crate::blas_folders()) {
        Ok(blas) => blas,
        Err(LoadError::NotFound { .. }) => return Check::skipped(name, "hipBLASLt is not there"),
        Err(error) => return Check::of(name, Err(error.to_string())),
    };
    let run = || {
        let problem = Problem::new(runtime)?;
        let product = BlasProduct {
            element: BlasElement::F16,
            out: problem.out.address(),
            weights: problem.weights.address(),
            x: problem.x.address(),
            columns: COLUMNS,
            rows: ROWS,
            count: COUNT,
            out_stride: ROWS,
        };
        let stream = runtime.stream().map_err(|error| error.to_string())?;
        blas.multiply(&stream, &product, 0).map_err(|error| error.to_string())?;
        stream.synchronize().map_err(|error| error.to_string())?;
        let version = blas.version().map_err(|error| error.to_string())?;
        Ok(format!("version {version}, {}", problem.judge()?))
    };
    Check::of(name, run())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_to_what_is_multiplied() {
        assert_eq!(error(&[3.0, 4.0], &[4.0, 3.0], 24.0), 0.0);
        assert!((error(&[3.0, 4.0], &[4.0, 3.0], 26.5) - 0.1).abs() < 1e-9);
        assert_eq!(error(&[1.0], &[1.0], f32::NAN), f64::INFINITY);
    }
}
