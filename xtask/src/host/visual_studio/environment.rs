//! The environment of the chosen Visual Studio, made once and kept as long as what it was made from is the same.

use super::vcvars::{self, Variables};
use super::{Error, Survey};
use crate::digest::{Hasher, Sha256};
use crate::files;
use crate::ui::last_lines;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::process::Output;

/// What a build for MSVC gets beside the toolchain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeveloperEnvironment {
    /// `MSVC 14.44.35207, Windows SDK 10.0.26100.0`: what outputs depend on.
    pub(crate) versions: String,
    /// To be set over those of the build: PATH, INCLUDE, LIB and what the script sets beside.
    pub(crate) variables: Variables,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    key: Sha256,
    environment: DeveloperEnvironment,
}

/// Runs the script of the best installation in `base`, the environment of a build, unless `cache` has the answer. `run` gets the folder, the
/// arguments of cmd.exe and the environment.
pub(super) fn make(
    survey: &Survey,
    base: &Variables,
    cache: &Path,
    run: impl FnOnce(&Path, &str, &Variables) -> io::Result<Output>,
    is_file: impl Fn(&str) -> bool,
) -> Result<DeveloperEnvironment, Error> {
    let (instance, toolset) = survey.chosen().ok_or_else(|| Error::no_visual_studio(survey))?;
    let sdk = survey.sdk().ok_or_else(|| Error::no_windows_sdk(survey, &instance.path))?;
    let script = &toolset.script;
    let start = |source| Error::Start { script: script.clone(), source };
    let (folder, name) =
        script.parent().zip(script.file_name()).ok_or_else(|| start(io::ErrorKind::InvalidInput.into()))?;
    let arguments = vcvars::arguments(&name.to_string_lossy(), &sdk.version, &toolset.version);
    let key = key(&std::fs::read(script).map_err(start)?, script, &arguments, base);
    if let Some(kept) = kept(cache, key) {
        return Ok(kept);
    }
    let output = run(folder, &arguments, base).map_err(start)?;
    let variables = vcvars::parse(&output.stdout).filter(|_| output.status.success());
    let variables = variables.ok_or_else(|| Error::Script {
        script: script.clone(),
        status: output.status.to_string(),
        tail: tail(&[vcvars::decode(&output.stdout), vcvars::decode(&output.stderr)].concat()),
    })?;
    let variables = vcvars::changes(base, variables);
    let missing = vcvars::missing(&variables, is_file);
    if !missing.is_empty() {
        return Err(Error::missing(script, &instance.path, missing));
    }
    let versions = format!("MSVC {}, Windows SDK {}", toolset.version, sdk.version);
    let environment = DeveloperEnvironment { versions, variables };
    keep(cache, key, &environment);
    Ok(environment)
}

/// Everything that the answer depends on; what lies in the folders it names is not copied, only named.
fn key(content: &[u8], script: &Path, arguments: &str, base: &Variables) -> Sha256 {
    let mut hasher = Hasher::new();
    hasher.field(env!("CARGO_PKG_VERSION"));
    hasher.field(&Sha256::of(content).to_string());
    hasher.field(&script.to_string_lossy());
    hasher.field(arguments);
    for (name, value) in base {
        hasher.field(name);
        hasher.field(value);
    }
    hasher.finish().0
}

fn kept(cache: &Path, key: Sha256) -> Option<DeveloperEnvironment> {
    let kept: Kept = serde_json::from_slice(&std::fs::read(cache).ok()?).ok()?;
    (kept.key == key).then_some(kept.environment)
}

/// A cache that cannot be written costs a second, no build.
fn keep(cache: &Path, key: Sha256, environment: &DeveloperEnvironment) {
    let text = serde_json::to_vec(&Kept { key, environment: environment.clone() }).unwrap_or_default();
    let _ = cache.parent().map(files::create_folder);
    let _ = files::write_whole(cache, &text);
}

fn tail(text: &str) -> String {
    last_lines(text.lines().map(str::trim_end).filter(|line| !line.is_empty()), 12)
}
