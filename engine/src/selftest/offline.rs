//! Checks that need no GPU.

use super::Check;
use crate::arena::Arena;
use crate::catalogue::{Catalogue, Error};
use crate::device::names;
use crate::plan::{CONTEXT, Plan, SHAPE};

/// Whether the release is whole and its arithmetic right.
pub fn checks(catalogue: Result<&Catalogue, &Error>) -> Vec<Check> {
    vec![
        Check::of("code objects", catalogue.map(describe).map_err(ToString::to_string)),
        match catalogue {
            Ok(catalogue) => Check::of("metadata", metadata(catalogue)),
            Err(_) => Check::skipped("metadata", "there are no code objects"),
        },
        Check::of("memory plan", plan().and_then(|plan| arena().map(|arena| format!("{plan}; {arena}")))),
    ]
}

fn describe(catalogue: &Catalogue) -> String {
    let files: Vec<String> = catalogue
        .entries
        .iter()
        .map(|entry| format!("{}/{}/{}.co", entry.target, entry.component, entry.name))
        .collect();
    format!("{} for {}: {}", files.len(), names(&catalogue.targets()), files.join(", "))
}

fn metadata(catalogue: &Catalogue) -> Result<String, String> {
    let faults = catalogue.faults();
    if !faults.is_empty() {
        return Err(faults.join("; "));
    }
    let kernels: usize =
        catalogue.entries.iter().flat_map(|entry| &entry.object).map(|object| object.kernels.len()).sum();
    Ok(format!(
        "{kernels} kernels: wave32, LDS within the limit, targets as their folders say, arguments as this program passes them"
    ))
}

fn plan() -> Result<String, String> {
    let plan = Plan::new(CONTEXT, SHAPE).map_err(|error| error.to_string())?;
    let double = Plan::new(2 * CONTEXT, SHAPE).map_err(|error| error.to_string())?;
    if plan.total != plan.kv_cache + plan.arena + plan.reserve {
        return Err("the parts of the plan do not add up".into());
    }
    if double.kv_cache != 2 * plan.kv_cache {
        return Err("twice the context does not take twice the KV cache".into());
    }
    if !plan.fits(plan.total) || plan.fits(plan.total - 1) {
        return Err("the plan does not fit exactly where it should".into());
    }
    if Plan::new(u64::MAX, SHAPE).is_ok() {
        return Err("a context without end was planned".into());
    }
    Ok(format!("{CONTEXT} cells take {} bytes of KV cache", plan.kv_cache))
}

fn arena() -> Result<String, String> {
    const MIB: u64 = 1 << 20;
    let mut arena = Arena::new(64 * MIB);
    let offsets = [arena.allocate(MIB, 256), arena.allocate(MIB, MIB)];
    if offsets != [Some(0), Some(MIB)] {
        return Err(format!("the arena gave {offsets:?} for two allocations of 1 MiB"));
    }
    if arena.allocate(63 * MIB, 1).is_some() {
        return Err("the arena gave more than it holds".into());
    }
    Ok("the arena aligns, and refuses more than it holds".into())
}
