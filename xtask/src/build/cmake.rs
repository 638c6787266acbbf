//! CMake with Ninja: configure, compile, install; one log a step.

use super::environment::Variables;
use super::plan::{Step, Tools};
use super::run::{Failure, Program, tail};
use super::{Error, Output, compile_commands};
use crate::files;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

const CONFIGURE_LIMIT: Duration = Duration::from_secs(300);
/// A TU takes 12 to 27 s of CPU (facts/aiter_ck.md 4); two flags together once made one endless (2.3).
const COMPILE_LIMIT: Duration = Duration::from_secs(3600);

/// Builds `step` and installs it into its staging folder.
pub(super) fn build(
    step: &Step,
    tools: &Tools,
    environment: &Variables,
    launcher: &str,
    jobs: usize,
) -> Result<(), Error> {
    let mut configure: Vec<OsString> = vec!["-S".into(), (&step.component.native).into()];
    configure.extend(["-B".into(), (&step.build_folder).into(), "-G".into(), "Ninja".into()]);
    configure.extend(step.settings.iter().map(|s| format!("-D{}={}", s.name, s.value).into()));
    // Always said: CMake keeps what it is no longer told.
    configure.push(format!("-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}").into());
    // Not through CMake, which would be told in Ninja's place that xtask was killed, and would not pass it on.
    let compile: Vec<OsString> = vec!["-j".into(), jobs.to_string().into()];
    let install: Vec<OsString> =
        vec!["--install".into(), (&step.build_folder).into(), "--prefix".into(), (&step.staging).into()];
    files::create_folder(&step.build_folder)?;
    for (name, path, arguments, limit) in [
        ("configure", &tools.cmake, configure, CONFIGURE_LIMIT),
        ("compile", &tools.ninja, compile, COMPILE_LIMIT),
        ("install", &tools.cmake, install, CONFIGURE_LIMIT),
    ] {
        let log = step.logs.join(format!("{name}.log"));
        let program =
            Program { path, arguments, folder: &step.build_folder, environment, log: log.clone(), limit };
        program.run().map_err(|failure| explain(step, path, name, failure, &log, limit))?;
    }
    Ok(())
}

fn explain(
    step: &Step,
    program: &Path,
    name: &'static str,
    failure: Failure,
    log: &Path,
    limit: Duration,
) -> Error {
    let (component, target, log) = (step.component.name.clone(), step.target, log.to_owned());
    match failure {
        Failure::Files(error) => Error::Files(error),
        Failure::Start(source) => Error::Start { program: program.to_owned(), source },
        Failure::Interrupted => Error::Interrupted,
        Failure::TimedOut => Error::TimedOut { component, target, step: name, seconds: limit.as_secs(), log },
        Failure::Status { status, output } => {
            let failed = failed_kernels(&output);
            let tail = tail(&output);
            Error::Step { component, target, step: name, status, failed, tail, log }
        }
    }
}

/// The kernels that ninja says failed: `FAILED: … CMakeFiles/<kernel>.dir/<source>.o`.
fn failed_kernels(output: &str) -> Vec<String> {
    let lines = output.lines().filter_map(|line| line.strip_prefix("FAILED: "));
    let kernel = |line: &str| Some(line.split_once("CMakeFiles/")?.1.split_once(".dir/")?.0.to_owned());
    lines.filter_map(kernel).collect()
}

#[derive(Deserialize)]
struct CompileCommand {
    command: String,
    output: String,
}

/// The compiler's arguments for each code object by its name, with places in angle brackets instead of paths.
pub(super) fn recorded_flags(step: &Step) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let commands: Vec<CompileCommand> = files::read_json(&step.build_folder.join(compile_commands::NAME))?;
    let mut places: Vec<(String, String)> = step
        .settings
        .iter()
        .filter(|setting| setting.recorded.starts_with('<'))
        .map(|setting| (setting.value.clone(), setting.recorded.clone()))
        .collect();
    places.push((files::forward_slashes(&step.component.native), "<source>".into()));
    places.push((files::forward_slashes(&step.build_folder), "<build>".into()));
    let record = |command: CompileCommand| {
        let kernel = command.output.split_once("CMakeFiles/")?.1.split_once(".dir/")?.0.to_owned();
        let shown = files::with_places(&command.command.replace('\\', "/"), &places);
        Some((kernel, shown.split_whitespace().map(unquoted).collect()))
    };
    Ok(commands.into_iter().filter_map(record).collect())
}

/// CMake quotes an argument whose path has a space; the place that stands for the path has none.
fn unquoted(word: &str) -> String {
    let inner = word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(word).to_owned()
}

/// Every file below the staging folder.
pub(super) fn outputs(staging: &Path) -> Result<Vec<Output>, Error> {
    use files::Named;
    let mut outputs = Vec::new();
    for path in files::list(staging)? {
        let full = staging.join(&path);
        let (sha256, size) = crate::digest::Sha256::of_file(&full).named("read", &full)?;
        // Programs and libraries lie at the root, those of a project where GNUInstallDirs puts them.
        let executable = !path.contains('/') || path.starts_with("bin/") || path.starts_with("lib/");
        outputs.push(Output { path, size, sha256, executable });
    }
    Ok(outputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failed_kernel_is_found_in_ninjas_words() {
        let output = "[1/2] Building\nFAILED: [code=1] CMakeFiles/rms_norm.dir/rms_norm.hip.o \n/x/clang++ …\nninja: build stopped\n";
        assert_eq!(failed_kernels(output), ["rms_norm"]);
        assert_eq!(failed_kernels("FAILED: something else\n"), Vec::<String>::new());
    }

    #[test]
    fn a_space_in_a_path_leaves_no_trace_in_the_flags() {
        assert_eq!(unquoted("\"-ffile-prefix-map=<source>=.\""), "-ffile-prefix-map=<source>=.");
        assert_eq!(unquoted("-ffile-prefix-map=<source>=."), "-ffile-prefix-map=<source>=.");
        assert_eq!(unquoted("-DNAME=\"x\""), "-DNAME=\"x\"");
    }
}
