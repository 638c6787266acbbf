//! A compiled code object against the catalogue.

use super::{INSTANCES, Instance};
use code_object::{CodeObject, Expected, Violation, violations};
use gfx::Wmma;

/// Everything in which the code object of this name differs from the catalogue; empty: nothing. The build refuses such an object, and a
/// launcher that meets one was built from another catalogue.
pub fn mismatches(name: &str, object: &CodeObject) -> Vec<Violation> {
    let expected = object.target.wmma().map(|wmma| expected(name, wmma)).unwrap_or_default();
    violations(object, &expected)
}

/// What the catalogue says of the kernels of a code object on targets with these matrix instructions.
pub fn expected(code_object: &str, wmma: Wmma) -> Vec<Expected> {
    let members = INSTANCES.iter().filter(|instance| instance.code_object == code_object);
    members.filter_map(|instance| expect(instance, wmma)).collect()
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
