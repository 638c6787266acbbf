//! Runs every kernel of a folder of code objects on `gfx-sim` and holds what it computes against the CPU references: of the Aiter kernels by their
//! catalogue, of the engine's by its own. README.md tells how an operation is added.
//!
//! The shapes are small and on the edges: one row, lengths below, at and above a tile, empty sequences, strides with gaps, shuffled pages. Every
//! output buffer has its exact size, what a kernel must not write is checked, and each launch runs under the interpreter's sanitizer.

mod arguments;
mod error;
mod objects;
mod operations;
mod report;
mod sample;

pub use error::Error;
pub use objects::{CodeObjects, Found, find};
pub use report::{Measured, Outcome, Report};

use aiter_kernels::catalogue::{INSTANCES, Instance};
use gfx::Target;
use gfx_sim::Disassembler;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Runs the kernels of `folder`, which has `kernels/<target>/<component>/<name>.co` in it: an artifact folder or an unpacked release.
///
/// A code object whose body is the same, to the byte, as one that was run for another target of this folder is not run again: it inherits.
///
/// # Errors
/// [`Error`]: there are no kernels, or a code object cannot be read. A kernel that computes wrong numbers or faults is no error but a failed
/// outcome of the report.
pub fn check(folder: &Path, disassembler: &Disassembler) -> Result<Report, Error> {
    check_all(&find(folder)?, disassembler)
}

/// [`check`] of code objects that were found before, of several folders perhaps.
///
/// # Errors
/// As [`check`].
pub fn check_all(found: &[Found], disassembler: &Disassembler) -> Result<Report, Error> {
    check_some(found, disassembler, &|_| true)
}

/// [`check_all`] of the kernels whose name is `wanted`.
///
/// # Errors
/// As [`check`].
pub fn check_some(
    found: &[Found],
    disassembler: &Disassembler,
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Report, Error> {
    let mut bodies = BTreeMap::new();
    let mut report = Report::default();
    for (target, component) in targets(found) {
        let of_component = found.iter().filter(|f| f.target == target && f.component == component);
        let mut objects = CodeObjects::new(target);
        for object in of_component {
            // What a kernel computes may depend on another object of its component (a split and its combine): all of them have to be equal.
            objects.load(object, disassembler)?;
        }
        let body = objects.body();
        if let Some(first) = bodies.get(&(component.clone(), body.clone())) {
            report.inherited.push(format!("{component} for {target}: the code bodies of {first}"));
            continue;
        }
        bodies.insert((component.clone(), body), target);
        report.outcomes.extend(check_component(&component, &objects, wanted)?);
    }
    Ok(report)
}

/// The kernels of one component for one target, those whose name is `wanted`.
///
/// # Errors
/// [`Error::Missing`]: a code object that the component's catalogue names is not there.
pub fn check_component(
    component: &str,
    objects: &CodeObjects,
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Vec<Outcome>, Error> {
    match component {
        "engine" => operations::engine(objects, wanted),
        _ => aiter(objects, wanted),
    }
}

fn targets(found: &[Found]) -> Vec<(Target, String)> {
    let mut all: Vec<_> = found.iter().map(|f| (f.target, f.component.clone())).collect();
    all.sort();
    all.dedup();
    all
}

/// Every kernel of the catalogue that the target has.
fn aiter(objects: &CodeObjects, wanted: &(dyn Fn(&str) -> bool + Sync)) -> Result<Vec<Outcome>, Error> {
    let wmma = objects.target().wmma();
    let is_there = |instance: &&Instance| wmma.is_some_and(|wmma| instance.budget(wmma).is_some());
    let instances: Vec<&'static Instance> =
        INSTANCES.iter().filter(is_there).filter(|i| wanted(i.entry)).collect();
    let outcomes: Result<Vec<_>, Error> =
        instances.par_iter().map(|instance| operations::check(objects, instance)).collect();
    Ok(outcomes?.concat())
}
