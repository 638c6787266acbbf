//! What a code object must be before it is published: compiled says little.

use super::Error;
use super::catalogue::Catalogue;
use super::component::Kind;
use super::manifest::CodeObjectRecord;
use super::plan::Step;
use crate::files::{self, Named};
use code_object::CodeObject;
use gfx::Target;
use std::collections::{BTreeMap, BTreeSet};

/// A workgroup's LDS on every RDNA target (facts/aiter_ck.md 5.7).
const LDS_LIMIT: u64 = 65_536;

/// Checks every code object in the staging folder and gives its record.
pub(super) fn check(
    step: &Step,
    flags: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<CodeObjectRecord>, Error> {
    let refuse = |kernel: &str, reason: String| Error::Gate {
        component: step.component.name.clone(),
        target: step.target,
        kernel: kernel.to_owned(),
        reason,
    };
    if let Kind::Project { .. } = step.component.kind {
        return match holds_code(step)? {
            true => Ok(Vec::new()),
            false => Err(refuse("the project", format!("installs no file with code for {}", step.target))),
        };
    }
    let folder = format!("kernels/{}/{}", step.target, step.component.name);
    let root = step.staging.join(&folder);
    let files = if root.is_dir() { files::list(&root)? } else { Vec::new() };
    let built: BTreeSet<&str> = files.iter().filter_map(|file| file.strip_suffix(".co")).collect();
    let declared: BTreeSet<&str> = step.component.kernels.iter().map(String::as_str).collect();
    if let Some(missing) = declared.difference(&built).next() {
        return Err(refuse(missing, "is declared in Cargo.toml and was not built".into()));
    }
    if let Some(extra) = built.difference(&declared).next() {
        return Err(refuse(extra, "was built and is not declared in Cargo.toml".into()));
    }
    let catalogue = step.component.catalogue.as_deref().map(Catalogue::read).transpose()?;
    let mut records = Vec::new();
    for name in built {
        let path = root.join(format!("{name}.co"));
        let bytes = std::fs::read(&path).named("read", &path)?;
        let object = CodeObject::parse(&bytes).map_err(|error| refuse(name, crate::ui::chain(&error)))?;
        judge(&object, step.target).map_err(|reason| refuse(name, reason))?;
        if let Some(reason) = catalogue.as_ref().and_then(|catalogue| catalogue.refusal(name, &object)) {
            return Err(refuse(name, reason));
        }
        records.push(CodeObjectRecord {
            file: format!("{folder}/{name}.co"),
            flags: flags.get(name).cloned().unwrap_or_default(),
            kernels: object.kernels,
        });
    }
    Ok(records)
}

/// Whether an installed file has a bundle with an entry of the target, by the name that clang gives it.
fn holds_code(step: &Step) -> Result<bool, Error> {
    let entry = format!("amdgcn-amd-amdhsa--{}", step.target);
    for path in files::list(&step.staging)? {
        let path = step.staging.join(path);
        let bytes = std::fs::read(&path).named("read", &path)?;
        if memchr::memmem::find(&bytes, entry.as_bytes()).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn judge(object: &CodeObject, target: Target) -> Result<(), String> {
    if object.target != target {
        return Err(format!("is for {}", object.target));
    }
    if object.kernels.is_empty() {
        return Err("holds no kernel".into());
    }
    for kernel in &object.kernels {
        if kernel.wave_size != 32 {
            return Err(format!("kernel {} has wave size {}, not 32", kernel.name, kernel.wave_size));
        }
        if u64::from(kernel.lds) > LDS_LIMIT {
            return Err(format!(
                "kernel {} needs {} bytes of LDS, more than {LDS_LIMIT}",
                kernel.name, kernel.lds
            ));
        }
    }
    Ok(())
}
