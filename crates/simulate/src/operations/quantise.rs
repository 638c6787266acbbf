//! Quantisation of rows to 8 bits, each with its own scale.

use super::{Case, Kernel, Number, of_type, relative, whole};
use crate::sample::Sample;
use crate::{Error, Measured, Outcome};
use aiter_kernels::args::QuantiseArgs;
use aiter_kernels::catalogue::Operation;
use aiter_kernels::reference::{Quantised, quantise_per_token};
use gfx_sim::Memory;

/// Rows, width, and how much further apart rows are than they are wide. The first row has two that are no numbers.
const SHAPES: [(usize, usize, usize); 3] = [(3, 300, 0), (2, 5, 3), (2, 2051, 1)];

pub(super) fn check(kernel: &Kernel<'_>) -> Result<Vec<Outcome>, Error> {
    let name = |(rows, width, padding): &_| format!("{rows}x{width} rows {padding} apart");
    Ok(kernel.outcomes(&SHAPES, name, |shape| of_type!(kernel.instance.data_type, run(kernel, shape))))
}

fn run<T: Number>(kernel: &Kernel<'_>, &(rows, width, padding): &(usize, usize, usize)) -> Case {
    let stride = width + padding;
    let format =
        if kernel.instance.operation == Operation::QuantiseInt8 { Quantised::Int8 } else { Quantised::E4m3 };
    let mut input: Vec<T> = Sample::new(3).numbers(rows * stride, 2.0, 0.0);
    (input[1], input[4]) = (T::from_f32(f32::NAN), T::from_f32(-f32::NAN));
    // A row of zeros.
    input[stride..2 * stride].fill(T::from_f32(0.0));
    let mut memory = Memory::new();
    let arguments = QuantiseArgs {
        out: memory.output::<u8>("out", rows * stride),
        scales: memory.output::<f32>("scales", rows),
        input: memory.read_only("input", &input),
        out_row_stride: stride as i64,
        input_row_stride: stride as i64,
        width: width as i32,
        reserved: 0,
    };
    let counts = kernel.launch(&mut memory, [rows as u32, 1, 1], &arguments)?;
    let (codes, stored) = (memory.numbers::<u8>(arguments.out), memory.stored::<u8>(arguments.out));
    if let Some(place) =
        stored.iter().enumerate().position(|(i, is_stored)| *is_stored != (i % stride < width))
    {
        return Err(format!(
            "byte {place} of the output is written and lies between rows, or is not and does not"
        ));
    }
    let alone = |row: &[T]| row[..width].to_vec();
    let numbers: Vec<T> = input.chunks(stride).flat_map(alone).collect();
    let (expected, scales) =
        quantise_per_token(format, &numbers, width).map_err(|error| error.to_string())?;
    let found: Vec<u8> = codes.chunks(stride).flat_map(|row| row[..width].to_vec()).collect();
    // A number halfway between two codes may go to either: the kernel multiplies where the reference divides. Both codes are counted in
    // their order, in which neighbours differ by one.
    let place = |code: u8| match format {
        Quantised::Int8 => i32::from(code as i8),
        Quantised::E4m3 if code & 0x80 != 0 => -i32::from(code & 0x7f),
        Quantised::E4m3 => i32::from(code),
    };
    let apart = found.iter().zip(&expected).map(|(a, b)| (place(*a) - place(*b)).abs());
    let (most, unlike) = apart.fold((0, 0), |(most, unlike), n| (most.max(n), unlike + i32::from(n > 0)));
    // Their codes are next to those of the largest numbers.
    let is_none = |code: u8| format == Quantised::E4m3 && code & 0x7f == 0x7f;
    if found.iter().zip(&expected).any(|(a, b)| is_none(*a) != is_none(*b)) {
        return Err("a number became none, or none a number".into());
    }
    let scale_error = relative(&whole::<f32>(&memory, arguments.scales)?, &scales, 0.0);
    Ok((
        vec![
            Measured { what: "scale", error: scale_error, bound: 3e-7 },
            Measured { what: "codes apart", error: f64::from(most), bound: 1.0 },
            Measured { what: "codes unlike", error: f64::from(unlike) / found.len() as f64, bound: 0.002 },
        ],
        counts,
    ))
}
