//! The engine's RMS norm.

use super::super::{launch, relative};
use super::{Case, Shape, Wanted, outcomes};
use crate::sample::Sample;
use crate::{CodeObjects, Error, Measured, Outcome};
use engine::element::Element;
use engine::reference::rms_norm;
use engine::rms_norm::{ARGUMENT_BYTES, NAME, kernel_name};
use gfx_sim::Memory;

/// Rows, columns, and the size of the numbers. Epsilon matters to small ones only: a mutant has shown that the others do not see it.
const SHAPES: [(usize, usize, f64); 6] =
    [(3, 300, 2.0), (1, 1, 2.0), (2, 7, 2.0), (2, 2048, 2.0), (1, 5003, 2.0), (2, 300, 1e-3)];
const EPSILON: f32 = 1e-6;
/// What `rms_norm_threads` says in every code object of the engine.
const THREADS: u32 = 256;

pub(super) fn check(objects: &CodeObjects, wanted: Wanted<'_>) -> Result<Vec<Outcome>, Error> {
    objects.program(NAME)?;
    let shapes = Element::ALL.into_iter().flat_map(|element| {
        SHAPES.map(|shape| {
            let name = format!("{}x{} of size {}", shape.0, shape.1, shape.2);
            Shape::new(kernel_name(element), name, move || run(objects, element, shape))
        })
    });
    Ok(outcomes(objects, wanted, &shapes.collect::<Vec<_>>()))
}

fn run(objects: &CodeObjects, element: Element, (rows, columns, size): (usize, usize, f64)) -> Case {
    let program = objects.program(NAME).map_err(|error| error.to_string())?;
    let mut sample = Sample::new(7);
    let rounded = |numbers: Vec<f32>| element.decode(&element.encode(&numbers));
    let input = rounded(sample.numbers(rows * columns, size, 0.0));
    let weight = rounded(sample.numbers(columns, 1.0, 1.0));
    let mut memory = Memory::new();
    let bytes = element.encode(&[0.0]).len();
    let out = memory.output::<u8>("out", rows * columns * bytes);
    let addresses = [
        out,
        memory.read_only("in", &element.encode(&input)),
        memory.read_only("weight", &element.encode(&weight)),
    ];
    let mut arguments: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
    arguments.extend((columns as u32).to_le_bytes());
    arguments.extend(EPSILON.to_le_bytes());
    if arguments.len() != ARGUMENT_BYTES as usize {
        return Err(format!("{ARGUMENT_BYTES} bytes of arguments, not {}", arguments.len()));
    }
    let counts =
        launch(program, &kernel_name(element), &mut memory, [rows as u32, 1, 1], THREADS, &arguments)?;
    if let Some(place) = memory.stored::<u8>(out).iter().position(|is_stored| !is_stored) {
        return Err(format!("byte {place} of the output was not written"));
    }
    let found = element.decode(&memory.numbers::<u8>(out));
    let expected = rms_norm(&input, &weight, EPSILON);
    let error = relative(&found, &expected, 1e-3);
    Ok((vec![Measured { what: "relative", error, bound: element.tolerance().into() }], counts))
}
