//! RMS norm on a device.

use crate::element::Element;
use code_object::CodeObject;
use hip::{Arguments, CallError, Launch, Module, Runtime};

/// The code object's name.
pub const NAME: &str = "rms_norm";
/// The symbol that says how many threads a work-group has.
pub const THREADS: &str = "rms_norm_threads";
/// The size of the argument block, `RmsNormArgs` in native/rms_norm_args.h.
pub const ARGUMENT_BYTES: u32 = 32;

/// The kernel for an element, e.g. `rms_norm_bf16`.
pub fn kernel_name(element: Element) -> String {
    format!("{NAME}_{element}")
}

/// The kernels, loaded on one device.
pub struct RmsNorm {
    runtime: Runtime,
    module: Module,
    threads: u32,
}

/// Why rows could not be normalised on the device.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The code object does not say how it is launched.
    #[error("the code object has no constant `{THREADS}`")]
    NoThreads,
    /// Numbers that make no whole number of rows, or more than a launch can count.
    #[error("{numbers} numbers are no rows of {columns} columns")]
    Shape {
        /// How many numbers there are.
        numbers: usize,
        /// How many weights.
        columns: usize,
    },
    /// The runtime refused.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl RmsNorm {
    /// Loads the kernels on the current device. `bytes` are those that `object` was parsed from.
    ///
    /// # Errors
    /// [`Error`].
    pub fn load(runtime: &Runtime, object: &CodeObject, bytes: &[u8]) -> Result<Self, Error> {
        let threads = object.constant_u32(THREADS).ok_or(Error::NoThreads)?;
        Ok(Self { runtime: runtime.clone(), module: runtime.load_module(bytes)?, threads })
    }

    /// Normalises the rows of `input` and waits for them. Input and weights are rounded to the element; there are as many columns as weights.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Call`].
    pub fn compute(
        &self,
        element: Element,
        input: &[f32],
        weight: &[f32],
        epsilon: f32,
    ) -> Result<Vec<f32>, Error> {
        let (rows, columns) = shape(input.len(), weight.len())?;
        let encoded = element.encode(input);
        let out = self.runtime.allocate(encoded.len())?;
        let (input, weight) = (self.runtime.upload(&encoded)?, self.runtime.upload(&element.encode(weight))?);
        let arguments = Arguments::new()
            .address(out.address())
            .address(input.address())
            .address(weight.address())
            .u32(columns)
            .f32(epsilon);
        let launch = Launch { grid: [rows, 1, 1], block: [self.threads, 1, 1], lds: 0 };
        let stream = self.runtime.stream()?;
        self.module.function(&kernel_name(element))?.launch(&stream, launch, &arguments)?;
        stream.synchronize()?;
        Ok(element.decode(&out.read()?))
    }
}

/// Rows and columns, as a launch counts them.
fn shape(numbers: usize, columns: usize) -> Result<(u32, u32), Error> {
    let rows = numbers.checked_div(columns).filter(|rows| rows * columns == numbers);
    let counted = rows.and_then(|rows| Some((u32::try_from(rows).ok()?, u32::try_from(columns).ok()?)));
    counted.ok_or(Error::Shape { numbers, columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_to_be_whole() {
        assert_eq!(shape(6, 3).ok(), Some((2, 3)));
        assert!(shape(7, 3).is_err());
        assert_eq!(shape(1, 0).expect_err("no columns").to_string(), "1 numbers are no rows of 0 columns");
    }
}
