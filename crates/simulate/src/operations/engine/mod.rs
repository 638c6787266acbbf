//! The engine's own kernels: one file a code object.

mod matrix;
mod rms_norm;
mod rows;
mod vector;
mod weights;

use super::Case;
use crate::{CodeObjects, Error, Outcome};
use engine::kernels::Call;
use gfx_sim::{Counts, Launch, Memory};
use rayon::prelude::*;

/// Which kernels are asked for, by name.
type Wanted<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// Every kernel of the engine.
pub(crate) fn check(objects: &CodeObjects, wanted: Wanted<'_>) -> Result<Vec<Outcome>, Error> {
    let checks = [rms_norm::check, vector::check, matrix::check, rows::check];
    let outcomes = checks.par_iter().map(|check| check(objects, wanted)).collect::<Result<Vec<_>, _>>()?;
    Ok(outcomes.concat())
}

/// A shape of a kernel, and how it is run.
struct Shape<'a> {
    kernel: String,
    name: String,
    run: Box<dyn Fn() -> Case + Sync + Send + 'a>,
}

impl<'a> Shape<'a> {
    fn new(
        kernel: impl Into<String>,
        name: impl Into<String>,
        run: impl Fn() -> Case + Sync + Send + 'a,
    ) -> Self {
        Self { kernel: kernel.into(), name: name.into(), run: Box::new(run) }
    }
}

/// Runs the shapes whose kernels are wanted; each is its own outcome.
fn outcomes(objects: &CodeObjects, wanted: Wanted<'_>, shapes: &[Shape<'_>]) -> Vec<Outcome> {
    let shapes: Vec<&Shape<'_>> = shapes.iter().filter(|shape| wanted(&shape.kernel)).collect();
    let outcome = |shape: &&Shape<'_>| {
        let (result, counts) = match (shape.run)() {
            Ok((measured, counts)) => (Ok(measured), counts),
            Err(fault) => (Err(fault), Counts::default()),
        };
        let (kernel, case) = (shape.kernel.clone(), shape.name.clone());
        Outcome { target: objects.target(), kernel, case, result, counts }
    };
    shapes.par_iter().map(outcome).collect()
}

/// Launches what the engine would launch.
fn launch(objects: &CodeObjects, memory: &mut Memory, call: &Call) -> Result<Counts, String> {
    let program = objects.program(call.object).map_err(|error| error.to_string())?;
    let launch = Launch {
        kernel: &call.kernel,
        grid: call.launch.grid,
        block: call.launch.block,
        arguments: call.arguments.as_bytes(),
        dynamic_lds: call.launch.lds,
    };
    program.launch(memory, &launch).map_err(|error| error.to_string())
}
