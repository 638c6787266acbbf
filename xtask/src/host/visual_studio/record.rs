//! What Visual Studio's installer writes down of each installation: `_Instances/<id>/state.json`. Its COM server (`ISetupConfiguration`), which vswhere
//! asks, reads the same files, so they serve where vswhere is gone or does not answer.

use super::Instance;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The installations that are written down in this `_Instances`, by their id. A record that is damaged, or names no folder, is none.
pub(super) fn recorded(folder: &Path) -> Vec<Instance> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut records: Vec<PathBuf> = entries.map(|entry| entry.path().join("state.json")).collect();
    records.sort();
    records.iter().filter_map(|path| of_record(&std::fs::read_to_string(path).ok()?)).collect()
}

fn of_record(text: &str) -> Option<Instance> {
    let record: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let value = |place: &str| record.pointer(place).and_then(Value::as_str).unwrap_or_default();
    let path = Some(value("/installationPath")).filter(|path| !path.is_empty()).map(PathBuf::from)?;
    // `Microsoft.VisualStudio.Product.BuildTools`
    let edition = value("/product/id").rsplit('.').next().unwrap_or_default();
    let words = ["Visual Studio", edition, value("/catalogInfo/productLineVersion")];
    let version = ["/installationVersion", "/catalogInfo/buildVersion"].map(value);
    Some(Instance {
        name: words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "),
        version: version.into_iter().find(|version| !version.is_empty()).unwrap_or_default().to_owned(),
        is_preview: value("/catalogInfo/productMilestoneIsPreRelease").eq_ignore_ascii_case("true"),
        // The record outlives a folder that somebody removed by hand.
        is_complete: path.is_dir(),
        path,
    })
}
