//! Gated activations.

use super::{Case, Kernel, Number, of_type, relative, rows_of};
use crate::sample::Sample;
use crate::{Error, Measured, Outcome};
use aiter_kernels::args::ActivationArgs;
use aiter_kernels::catalogue::{DataType, Operation};
use aiter_kernels::reference::{Activation, gated_activation};
use gfx_sim::Memory;

/// Rows, width, and how much further apart rows are than they are wide.
///
/// A width below one vector, one that is no multiple of it, one of two tiles; the padding leaves rows unaligned.
const SHAPES: [(usize, usize, usize); 4] = [(3, 300, 0), (2, 5, 3), (2, 2051, 1), (1, 4096, 0)];

pub(super) fn check(kernel: &Kernel<'_>) -> Result<Vec<Outcome>, Error> {
    let name = |(rows, width, padding): &_| format!("{rows}x{width} rows {padding} apart");
    Ok(kernel.outcomes(&SHAPES, name, |shape| of_type!(kernel.instance.data_type, run(kernel, shape))))
}

fn run<T: Number>(kernel: &Kernel<'_>, &(rows, width, padding): &(usize, usize, usize)) -> Case {
    let activation = match kernel.instance.operation {
        Operation::SiluAndMul => Activation::Silu,
        Operation::GeluAndMul => Activation::Gelu,
        _ => Activation::GeluTanh,
    };
    let (stride, out_stride) = (2 * width + padding, width + padding);
    let input: Vec<T> = Sample::new(3).numbers(rows * stride, 2.0, 0.0);
    let mut memory = Memory::new();
    let arguments = ActivationArgs {
        out: memory.output::<T>("out", rows * out_stride),
        input: memory.read_only("input", &input),
        out_row_stride: out_stride as i64,
        input_row_stride: stride as i64,
        width: width as i32,
        reserved: 0,
    };
    let tiles = (width as u32).div_ceil(kernel.instance.tile.n);
    let counts = kernel.launch(&mut memory, [rows as u32, tiles, 1], &arguments)?;
    let found = rows_of::<T>(&memory, arguments.out, width, out_stride)?;
    let rows_alone: Vec<T> = input.chunks(stride).flat_map(|row| row[..2 * width].to_vec()).collect();
    let expected =
        gated_activation(activation, &rows_alone, rows, width).map_err(|error| error.to_string())?;
    // Half a step of the type; f32: the hardware's exp2 and reciprocal.
    let bound = match kernel.instance.data_type {
        DataType::Bf16 => 0.004,
        DataType::F16 => 0.0005,
        DataType::F32 | DataType::E4m3 => 2e-6,
    };
    // Below the floor the type itself has no relative precision left.
    let error = relative(&found, &expected, 1e-3);
    Ok((vec![Measured { what: "relative", error, bound }], counts))
}
