//! A compiled code object against the catalogue.

use super::{Budget, INSTANCES, Instance};
use code_object::{CodeObject, Kernel};
use gfx::Target;
use std::fmt::Display;

/// Bytes of the implicit arguments that follow the block of a kernel that reads them (LLVM AMDGPU usage, "Code Object V5 Kernel Metadata").
const IMPLICIT_ARGUMENTS: u32 = 256;

/// Something that a code object has and the catalogue does not allow, or the other way round.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code_object} for {target}: {what}: {found}, the catalogue says {expected}")]
pub struct Mismatch {
    /// The code object's name.
    pub code_object: String,
    /// The target it was compiled for.
    pub target: Target,
    /// What differs, e.g. `fmha_fwd_bf16_d64_dense: vgprs`.
    pub what: String,
    /// What the catalogue says.
    pub expected: String,
    /// What the code object says.
    pub found: String,
}

/// Everything in which the code object of this name differs from the catalogue; empty: nothing.
pub fn mismatches(name: &str, object: &CodeObject) -> Vec<Mismatch> {
    let mut gate = Gate { name, target: object.target, found: Vec::new() };
    let members: Vec<_> = INSTANCES.iter().filter(|i| i.code_object == name).collect();
    for kernel in &object.kernels {
        if !members.iter().any(|i| i.entry == kernel.name) {
            gate.equal(&kernel.name, "kernel", "absent", "present");
        }
    }
    for instance in members {
        let budget = object.target.wmma().and_then(|wmma| instance.budget(wmma));
        match (budget, object.kernel(instance.entry)) {
            (Some(budget), Some(kernel)) => gate.kernel(instance, budget, kernel, object),
            (Some(_), None) => gate.equal(instance.entry, "kernel", "present", "absent"),
            (None, Some(_)) => gate.equal(instance.entry, "kernel", "absent", "present"),
            (None, None) => {}
        }
    }
    gate.found
}

struct Gate<'a> {
    name: &'a str,
    target: Target,
    found: Vec<Mismatch>,
}

impl Gate<'_> {
    fn kernel(&mut self, instance: &Instance, budget: &Budget, kernel: &Kernel, object: &CodeObject) {
        let entry = instance.entry;
        self.equal(entry, "wave size", 32, kernel.wave_size);
        self.equal(entry, "largest work-group", instance.warps * 32, kernel.max_flat_workgroup_size);
        self.equal(entry, "dynamic stack", false, kernel.uses_dynamic_stack);
        self.equal(entry, "LDS bytes", budget.lds_bytes, kernel.lds);
        self.most(entry, "vgprs", budget.vgprs, kernel.vgpr);
        self.most(entry, "scratch bytes", budget.scratch_bytes, kernel.scratch);

        let block = instance.arguments.size() as u32;
        if kernel.kernarg_size != block + IMPLICIT_ARGUMENTS {
            self.equal(entry, "argument bytes", block, kernel.kernarg_size);
        }
        let wmma = object.target.wmma();
        let expected = wmma.and_then(|wmma| instance.geometry(wmma)).map(|g| format!("{g:?}"));
        let symbol = instance.geometry_symbol();
        let found = match object.constant(&symbol).map(|bytes| crate::args::Geometry::from_bytes(&bytes)) {
            Some(Ok(geometry)) => format!("{geometry:?}"),
            Some(Err(error)) => error.to_string(),
            None => "absent".into(),
        };
        self.equal(entry, "geometry", expected.unwrap_or_default(), found);
    }

    fn equal<T: Display>(&mut self, entry: &str, what: &str, expected: T, found: T) {
        self.note(entry, what, expected.to_string(), found.to_string());
    }

    fn most(&mut self, entry: &str, what: &str, expected: u32, found: u32) {
        if found > expected {
            self.note(entry, what, format!("at most {expected}"), found.to_string());
        }
    }

    fn note(&mut self, entry: &str, what: &str, expected: String, found: String) {
        if expected != found {
            self.found.push(Mismatch {
                code_object: self.name.to_owned(),
                target: self.target,
                what: format!("{entry}: {what}"),
                expected,
                found,
            });
        }
    }
}
