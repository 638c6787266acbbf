//! CMakeUserPresets.json: what CMake's documentation calls a preset file for one machine, so it may hold paths.

use super::Environment;
use crate::build::Step;
use crate::files;
use serde_json::{Map, Value, json};
use std::path::Path;

/// One preset for each target of a component. The build folders are not those of `cargo xtask build`.
pub(super) fn presets<'a>(
    steps: impl Iterator<Item = &'a Step>,
    environment: &Environment,
    ide: &Path,
) -> Value {
    let mut configure = Vec::new();
    let mut build = Vec::new();
    for step in steps {
        let name = step.target.name();
        let settings: Map<String, Value> =
            step.settings.iter().map(|setting| (setting.name.clone(), json!(setting.value))).collect();
        let libraries = environment.variables.get("LD_LIBRARY_PATH");
        let variables: Map<String, Value> =
            libraries.iter().map(|value| ("LD_LIBRARY_PATH".to_owned(), json!(value))).collect();
        configure.push(json!({
            "name": name,
            "displayName": format!("{} for {name}, pinned toolchain", step.component.name),
            "generator": "Ninja",
            "binaryDir": files::forward_slashes(&ide.join(&step.component.name).join(name)),
            "cacheVariables": settings,
            "environment": variables,
        }));
        build.push(json!({"name": name, "configurePreset": name}));
    }
    json!({
        // CMake 3.24 reads it.
        "version": 5,
        "cmakeMinimumRequired": {"major": 3, "minor": 24, "patch": 0},
        "configurePresets": configure,
        "buildPresets": build,
    })
}
