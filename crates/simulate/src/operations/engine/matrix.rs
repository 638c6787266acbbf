//! Products with many rows, on the matrix instructions.

use super::super::rows_of;
use super::weights::Weights;
use super::{Case, Shape, Wanted, launch, outcomes};
use crate::sample::Sample;
use crate::{CodeObjects, Error, Measured, Outcome};
use engine::gguf::TensorType;
use engine::kernels::{MultiplyMatrix, has_matrix_kernel};
use gfx_sim::Memory;
use half::{bf16, f16};

/// Rows of weights and of x: one of each; one more than a tile; more than a work-group has.
const SIZES: [(usize, usize); 4] = [(1, 1), (17, 17), (70, 5), (33, 66)];

pub(super) fn check(objects: &CodeObjects, wanted: Wanted<'_>) -> Result<Vec<Outcome>, Error> {
    let mut shapes = Vec::new();
    for kind in TensorType::ALL {
        let columns = kind.block().0.max(32);
        if !has_matrix_kernel(kind, columns) {
            continue;
        }
        for (rows, count) in SIZES {
            let columns = if count == 17 { 3 * columns } else { columns };
            let (kernel, name) =
                (MultiplyMatrix::default().call(kind).kernel, format!("{count}x{rows}x{columns}"));
            shapes.push(Shape::new(kernel, name, move || run(objects, kind, [columns, rows, count])));
        }
    }
    Ok(outcomes(objects, wanted, &shapes))
}

fn run(objects: &CodeObjects, kind: TensorType, [columns, rows, count]: [usize; 3]) -> Case {
    /// Floats between two results, which must stay as they are.
    const GAP: usize = 3;
    let is_bf16 = kind == TensorType::BF16;
    let weights = Weights::new(kind, rows, columns, 5);
    let x: Vec<f32> = Sample::new(7).numbers(count * columns, 1.0, 0.0);
    let mut memory = Memory::new();
    let address = if is_bf16 {
        memory.read_only("x", &x.iter().map(|x| bf16::from_f32(*x)).collect::<Vec<_>>())
    } else {
        memory.read_only("x", &x.iter().map(|x| f16::from_f32(*x)).collect::<Vec<_>>())
    };
    let call = MultiplyMatrix {
        out: memory.output::<f32>("out", count * (rows + GAP)),
        weights: memory.read_only("weights", &weights.bytes),
        x: address,
        columns,
        rows,
        count,
        out_stride: rows + GAP,
    };
    let counts = launch(objects, &mut memory, &call.call(kind))?;
    let found = rows_of::<f32>(&memory, call.out, rows, rows + GAP)?;
    let round = |x: f32| if is_bf16 { bf16::from_f32(x).to_f32() } else { f16::from_f32(x).to_f32() };
    let error = x.chunks_exact(columns).zip(found.chunks_exact(rows));
    let error = error.map(|(x, found)| weights.error(x, round, found)).fold(0.0, f64::max);
    // Halves multiply exactly in a float; the weight before rounding may differ by one float.
    Ok((vec![Measured { what: "out", error, bound: if is_bf16 { 1e-5 } else { 2e-5 } }], counts))
}
