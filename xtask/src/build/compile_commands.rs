//! `compile_commands.json` in the workspace's root, where clangd and IDEs look: one entry for each source file of every component.

use super::Error;
use super::plan::{BuildPlan, Step};
use crate::files;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Its name, which clangd looks for.
pub(super) const NAME: &str = "compile_commands.json";

/// Joins what CMake wrote for each component. Of several targets the first of the plan that has one counts: an IDE shows one at a time.
pub(crate) fn write_compile_commands(root: &Path, plan: &BuildPlan) -> Result<Option<PathBuf>, Error> {
    let mut seen = BTreeSet::new();
    let mut entries = Vec::new();
    for step in &plan.steps {
        let commands = commands_of(step)?;
        if !commands.is_empty() && seen.insert(&step.component.name) {
            entries.extend(commands);
        }
    }
    if entries.is_empty() {
        return Ok(None);
    }
    let path = root.join(NAME);
    let text = format!("{:#}\n", Value::Array(entries));
    // An editor that watches the file is not woken for nothing.
    if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(Some(path));
    }
    files::write_whole(&path, text.as_bytes())?;
    Ok(Some(path))
}

/// None where the step was never configured here.
fn commands_of(step: &Step) -> Result<Vec<Value>, Error> {
    let path = step.build_folder.join(NAME);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    Ok(files::read_json(&path)?)
}
