//! Rotary embeddings.

use super::{Case, Kernel, Number, difference, of_type, whole};
use crate::sample::Sample;
use crate::{Error, Measured, Outcome};
use aiter_kernels::args::RopeArgs;
use aiter_kernels::catalogue::DataType;
use aiter_kernels::reference::{Rope, RopeStyle, rope};
use gfx_sim::Memory;

/// Heads, head dim, rotary dim, whether the elements that are not rotated come first, whether the output is the input. In place heads and rows
/// have gaps, and there are no positions.
type Shape = (usize, usize, usize, bool, bool);
const SHAPES: [Shape; 4] =
    [(3, 64, 64, false, false), (2, 96, 20, false, false), (1, 64, 32, true, false), (5, 6, 6, false, true)];
pub(super) const STYLES: [RopeStyle; 2] = [RopeStyle::Neox, RopeStyle::Interleaved];
const POSITIONS: [usize; 3] = [0, 63, 17];
const TABLE_ROWS: usize = 64;

/// Half a step of the type at the largest numbers, of size 4.
pub(super) fn bound(data_type: DataType) -> f64 {
    match data_type {
        DataType::Bf16 => 0.016,
        DataType::F16 => 0.002,
        DataType::F32 | DataType::E4m3 => 1e-6,
    }
}

/// Cosines and sines, `[position, rotary_dim / 2]`.
pub(super) fn tables(rotary_dim: usize) -> (Vec<f32>, Vec<f32>) {
    let angle =
        |position: usize, i: usize| position as f64 * 10_000f64.powf(-2.0 * i as f64 / rotary_dim as f64);
    let angles: Vec<f64> =
        (0..TABLE_ROWS).flat_map(|position| (0..rotary_dim / 2).map(move |i| angle(position, i))).collect();
    (angles.iter().map(|a| a.cos() as f32).collect(), angles.iter().map(|a| a.sin() as f32).collect())
}

pub(super) fn check(kernel: &Kernel<'_>) -> Result<Vec<Outcome>, Error> {
    let cases: Vec<(Shape, RopeStyle)> =
        SHAPES.iter().flat_map(|shape| STYLES.map(|style| (*shape, style))).collect();
    let name = |((heads, head_dim, rotary_dim, nope_first, in_place), style): &(Shape, RopeStyle)| {
        let (last, place) =
            (if *nope_first { " last" } else { "" }, if *in_place { " in place" } else { "" });
        format!("{heads}x{head_dim} {style:?} {rotary_dim}{last}{place}")
    };
    Ok(kernel.outcomes(&cases, name, |(shape, style)| {
        of_type!(kernel.instance.data_type, run(kernel, shape, *style))
    }))
}

fn run<T: Number>(
    kernel: &Kernel<'_>,
    &(heads, head_dim, rotary_dim, nope_first, in_place): &Shape,
    style: RopeStyle,
) -> Case {
    let rows = POSITIONS.len();
    let head_stride = if in_place { head_dim + 3 } else { head_dim };
    let row_stride = heads * head_stride + if in_place { 5 } else { 0 };
    let input: Vec<T> = Sample::new(5).numbers(rows * row_stride, 1.0, 0.0);
    let alone = |tensor: &[T]| -> Vec<T> {
        let place = |i: usize| {
            i / (heads * head_dim) * row_stride + i / head_dim % heads * head_stride + i % head_dim
        };
        (0..rows * heads * head_dim).map(|i| tensor[place(i)]).collect()
    };
    // Two rows share a position where the kernel counts them.
    let positions = if in_place { [0, 0, 1] } else { POSITIONS };
    let (cos, sin) = tables(rotary_dim);
    let mut memory = Memory::new();
    let (out, source) = match in_place {
        true => {
            let both = memory.read_write("input and output", &input);
            (both, both)
        }
        false => (memory.output::<T>("out", input.len()), memory.read_only("input", &input)),
    };
    let arguments = RopeArgs {
        out,
        input: source,
        cos: memory.read_only("cos", &cos),
        sin: memory.read_only("sin", &sin),
        positions: match in_place {
            true => 0,
            false => memory.read_only("positions", &positions.map(|position| position as i32)),
        },
        out_row_stride: row_stride as i64,
        input_row_stride: row_stride as i64,
        out_head_stride: head_stride as i32,
        input_head_stride: head_stride as i32,
        heads: heads as i32,
        head_dim: head_dim as i32,
        rotary_dim: rotary_dim as i32,
        first: if nope_first { head_dim - rotary_dim } else { 0 } as i32,
        interleaved: i32::from(style == RopeStyle::Interleaved),
        batch: 2,
    };
    let counts = kernel.launch(&mut memory, [rows as u32, 1, 1], &arguments)?;
    // In place, what is not rotated may stay unwritten.
    let found = match in_place {
        true => alone(&memory.numbers::<T>(out)).iter().map(|x| x.to_f32()).collect(),
        false => whole::<T>(&memory, out)?,
    };
    let reference = Rope { cos: &cos, sin: &sin, rotary_dim, style, nope_first };
    let expected =
        rope(&reference, &alone(&input), &positions, heads, head_dim).map_err(|error| error.to_string())?;
    let error = difference(&found, &expected);
    Ok((vec![Measured { what: "out", error, bound: bound(kernel.instance.data_type) }], counts))
}
