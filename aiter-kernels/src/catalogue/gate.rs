//! A compiled code object against the catalogue.

use super::{EXCEPTIONS, INSTANCES, Instance};
use code_object::{CodeObject, Expected, Violation, violations};
use gfx::{Target, Wmma};

/// Everything in which the code object of this name differs from the catalogue; empty: nothing. The build refuses such an object, and a
/// launcher that meets one was built from another catalogue.
pub fn mismatches(name: &str, object: &CodeObject) -> Vec<Violation> {
    violations(object, &expected_on(name, object.target))
}

/// What the catalogue says of the kernels of a code object on targets with these matrix instructions, but for [`EXCEPTIONS`].
pub fn expected(code_object: &str, wmma: Wmma) -> Vec<Expected> {
    let members = INSTANCES.iter().filter(|instance| instance.code_object == code_object);
    members.filter_map(|instance| expect(instance, wmma)).collect()
}

/// What it says of them on this target.
pub fn expected_on(code_object: &str, target: Target) -> Vec<Expected> {
    let mut kernels = target.wmma().map(|wmma| expected(code_object, wmma)).unwrap_or_default();
    for kernel in &mut kernels {
        let is_meant = |exception: &&super::Exception| {
            exception.targets.contains(&target) && exception.entries.contains(&kernel.name.as_str())
        };
        if let Some(exception) = EXCEPTIONS.iter().find(is_meant) {
            (kernel.vgprs, kernel.scratch_bytes) = (exception.vgprs, exception.scratch_bytes);
        }
    }
    kernels
}

fn expect(instance: &Instance, wmma: Wmma) -> Option<Expected> {
    let budget = instance.budget(wmma)?;
    let geometry = instance.geometry(wmma)?;
    Some(Expected {
        name: instance.entry.to_owned(),
        threads: instance.warps * 32,
        argument_bytes: instance.arguments.size() as u32,
        lds_bytes: budget.lds_bytes,
        vgprs: budget.vgprs,
        scratch_bytes: budget.scratch_bytes,
        wmma: instance.attention.is_some(),
        constants: [(instance.geometry_symbol(), geometry.words().into())].into(),
    })
}
