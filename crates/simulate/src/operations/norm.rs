//! RMS norm, layer norm and softmax of rows.

use super::{Case, Kernel, Number, difference, of_type, relative, rows_of};
use crate::sample::Sample;
use crate::{Error, Measured, Outcome};
use aiter_kernels::args::NormArgs;
use aiter_kernels::catalogue::{DataType, Operation};
use aiter_kernels::reference::{Norm, NormInputs, norm};
use gfx_sim::Memory;

struct Shape {
    rows: usize,
    width: usize,
    /// How much further apart rows are than they are wide.
    padding: usize,
    /// Added to the numbers.
    offset: f64,
    /// Whether there is a residual, and whether the sum goes to its place.
    residual: Option<bool>,
    weight: bool,
    bias: bool,
}

const fn shape(
    (rows, width, padding): (usize, usize, usize),
    offset: f64,
    residual: Option<bool>,
    [weight, bias]: [bool; 2],
) -> Shape {
    Shape { rows, width, padding, offset, residual, weight, bias }
}

const SHAPES: [Shape; 4] = [
    shape((3, 300, 0), 0.0, Some(true), [true, true]),
    shape((2, 5, 3), 10.0, None, [true, false]),
    shape((2, 2051, 1), 0.0, Some(false), [false, false]),
    shape((1, 4096, 0), -3.0, None, [true, true]),
];

const EPSILON: f32 = 1e-5;

pub(super) fn check(kernel: &Kernel<'_>) -> Result<Vec<Outcome>, Error> {
    let name = |s: &Shape| {
        let with = [(s.residual.is_some(), " residual"), (s.weight, " weight"), (s.bias, " bias")];
        let with: String = with.iter().filter(|(is_there, _)| *is_there).map(|(_, name)| *name).collect();
        format!("{}x{} rows {} apart{with}", s.rows, s.width, s.padding)
    };
    Ok(kernel.outcomes(&SHAPES, name, |shape| of_type!(kernel.instance.data_type, run(kernel, shape))))
}

fn run<T: Number>(kernel: &Kernel<'_>, shape: &Shape) -> Case {
    let Shape { rows, width, padding, offset, .. } = *shape;
    let stride = width + padding;
    let what = match kernel.instance.operation {
        Operation::RmsNorm => Norm::Rms { epsilon: EPSILON },
        Operation::LayerNorm => Norm::Layer { epsilon: EPSILON },
        _ => Norm::Softmax,
    };
    let mut sample = Sample::new(3);
    let input: Vec<T> = sample.numbers(rows * stride, 2.0, offset);
    // Softmax has none of them.
    let mut optional = |is_there: bool, count: usize| -> Option<Vec<T>> {
        (is_there && what != Norm::Softmax).then(|| sample.numbers(count, 1.0, 0.0))
    };
    let residual = optional(shape.residual.is_some(), rows * stride);
    let (weight, bias) = (optional(shape.weight, width), optional(shape.bias, width));

    let mut memory = Memory::new();
    let out = memory.output::<T>("out", rows * stride);
    let (residual_in, residual_out) = match (&residual, shape.residual) {
        (Some(tensor), Some(false)) => {
            (memory.read_only("residual_in", tensor), memory.output::<T>("residual_out", tensor.len()))
        }
        (Some(tensor), _) => {
            let both = memory.read_write("residual", tensor);
            (both, both)
        }
        (None, _) => (0, 0),
    };
    let arguments = NormArgs {
        out,
        input: memory.read_only("input", &input),
        residual_in,
        residual_out,
        weight: weight.as_ref().map_or(0, |tensor| memory.read_only("weight", tensor)),
        bias: bias.as_ref().map_or(0, |tensor| memory.read_only("bias", tensor)),
        out_row_stride: stride as i64,
        input_row_stride: stride as i64,
        residual_in_row_stride: stride as i64,
        residual_out_row_stride: stride as i64,
        width: width as i32,
        epsilon: EPSILON,
    };
    let counts = kernel.launch(&mut memory, [rows as u32, 1, 1], &arguments)?;

    let alone =
        |tensor: &Vec<T>| -> Vec<T> { tensor.chunks(stride).flat_map(|row| row[..width].to_vec()).collect() };
    let (input, residual) = (alone(&input), residual.as_ref().map(alone));
    let inputs = NormInputs {
        input: &input,
        residual: residual.as_deref(),
        weight: weight.as_deref(),
        bias: bias.as_deref(),
    };
    let (expected, sums) = norm(what, inputs, width).map_err(|error| error.to_string())?;
    let found = rows_of::<T>(&memory, out, width, stride)?;
    // Half a step of the type; f32: sums and the hardware's functions. The sums of a row carry the error of their largest terms, and a mean
    // that is far from zero that of its size.
    let bound = match kernel.instance.data_type {
        DataType::Bf16 => 0.004,
        DataType::F16 => 0.0005,
        DataType::F32 | DataType::E4m3 => 4e-6,
    };
    let floor = 1e-2 * (1.0 + offset.abs() as f32) * expected.iter().fold(0f32, |most, x| most.max(x.abs()));
    let mut measured = vec![Measured { what: "relative", error: relative(&found, &expected, floor), bound }];
    if residual.is_some() {
        let found = rows_of::<T>(&memory, arguments.residual_out, width, stride)?;
        measured.push(Measured { what: "sum", error: difference(&found, &sums), bound: 0.0 });
    }
    Ok((measured, counts))
}
