//! Products with one row, of one matrix and of experts; rows of a table.

use super::super::{difference, whole};
use super::weights::{Weights, widths};
use super::{Case, Shape, Wanted, launch, outcomes};
use crate::sample::Sample;
use crate::{CodeObjects, Error, Measured, Outcome};
use engine::gguf::TensorType;
use engine::kernels::{Embed, MultiplyVector};
use gfx_sim::Memory;

/// Rows of the matrix: one, and more than a work-group takes.
const ROWS: [usize; 2] = [1, 11];
/// Of each of two rows of x: which experts; one is not here.
const EXPERTS: [i32; 8] = [2, 0, 1, -1, 1, 2, -1, 0];

pub(super) fn check(objects: &CodeObjects, wanted: Wanted<'_>) -> Result<Vec<Outcome>, Error> {
    let mut shapes = Vec::new();
    for kind in TensorType::ALL {
        let multiply = MultiplyVector::default().call(kind).kernel;
        for columns in widths(kind) {
            for rows in ROWS {
                let name = format!("{rows}x{columns}");
                shapes.push(Shape::new(&multiply, name, move || one(objects, kind, *columns, rows)));
            }
            let embed = Embed::default().call(kind).kernel;
            shapes.push(Shape::new(embed, format!("5x{columns}"), move || rows_of(objects, kind, *columns)));
        }
        let columns = *widths(kind).last().unwrap_or(&256);
        let name = format!("experts 5x{columns}");
        shapes.push(Shape::new(multiply, name, move || of_experts(objects, kind, columns)));
    }
    Ok(outcomes(objects, wanted, &shapes))
}

const SEED: u64 = 5;
/// Rounding of a sum in float, in any order.
const BOUND: f64 = 1e-6;

fn one(objects: &CodeObjects, kind: TensorType, columns: usize, rows: usize) -> Case {
    let weights = Weights::new(kind, rows, columns, SEED);
    let x: Vec<f32> = Sample::new(7).numbers(columns, 1.0, 0.0);
    let mut memory = Memory::new();
    let call = MultiplyVector {
        out: memory.output::<f32>("out", rows),
        weights: memory.read_only("weights", &weights.bytes),
        x: memory.read_only("x", &x),
        columns,
        rows,
        out_stride: rows,
        share: 1,
        count: 1,
        ..MultiplyVector::default()
    };
    let counts = launch(objects, &mut memory, &call.call(kind))?;
    let error = weights.error(&x, |x| x, &whole::<f32>(&memory, call.out)?);
    Ok((vec![Measured { what: "out", error, bound: BOUND }], counts))
}

fn of_experts(objects: &CodeObjects, kind: TensorType, columns: usize) -> Case {
    const ROWS: usize = 5;
    let experts: Vec<Weights> =
        (0..3).map(|expert| Weights::new(kind, ROWS, columns, SEED + expert)).collect();
    let bytes: Vec<u8> = experts.iter().flat_map(|weights| weights.bytes.iter().copied()).collect();
    let x: Vec<f32> = Sample::new(7).numbers(2 * columns, 1.0, 0.0);
    let mut memory = Memory::new();
    let call = MultiplyVector {
        out: memory.output::<f32>("out", EXPERTS.len() * ROWS),
        weights: memory.read_only("weights", &bytes),
        x: memory.read_only("x", &x),
        experts: memory.read_only("experts", &EXPERTS),
        expert_bytes: (bytes.len() / experts.len()) as u64,
        columns,
        rows: ROWS,
        out_stride: ROWS,
        share: EXPERTS.len() / 2,
        count: 2,
    };
    let counts = launch(objects, &mut memory, &call.call(kind))?;
    let found = whole::<f32>(&memory, call.out)?;
    let errors = found.chunks_exact(ROWS).zip(EXPERTS).enumerate().map(|(n, (found, expert))| {
        let x = &x[n / call.share * columns..][..columns];
        match experts.get(expert as usize) {
            Some(weights) => weights.error(x, |x| x, found),
            None => found.iter().map(|number| f64::from(number.abs())).fold(0.0, f64::max),
        }
    });
    Ok((vec![Measured { what: "out", error: errors.fold(0.0, f64::max), bound: BOUND }], counts))
}

fn rows_of(objects: &CodeObjects, kind: TensorType, columns: usize) -> Case {
    let weights = Weights::new(kind, 5, columns, SEED);
    let tokens = [3_u32, 0, 4, 4];
    let mut memory = Memory::new();
    let call = Embed {
        out: memory.output::<f32>("out", tokens.len() * columns),
        table: memory.read_only("table", &weights.bytes),
        tokens: memory.read_only("tokens", &tokens),
        columns,
        count: tokens.len(),
    };
    let counts = launch(objects, &mut memory, &call.call(kind))?;
    let rows = tokens.iter().flat_map(|token| &weights.numbers[*token as usize * columns..][..columns]);
    let expected: Vec<f32> = rows.copied().collect();
    // A multiply and a subtract may become one, which rounds once.
    let error = difference(&whole::<f32>(&memory, call.out)?, &expected);
    Ok((vec![Measured { what: "out", error, bound: 1e-5 }], counts))
}
