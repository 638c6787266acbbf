//! `xtask compile`: what CMake calls in place of the compiler where targets share front ends. Nobody types it.

use crate::build::compile_shared;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compile for one target, with the front end shared with other targets
#[derive(Debug, Args)]
pub(crate) struct Compile {
    /// Folder of the front ends' outputs
    cache: PathBuf,
    /// The compiler and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<OsString>,
}

impl Compile {
    /// Runs it; the exit code is the compiler's.
    pub(crate) fn run(&self) -> ExitCode {
        match compile_shared(&self.cache, &self.command) {
            Ok(status) if status.success() => ExitCode::SUCCESS,
            Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
            Err(error) => {
                eprintln!(
                    "error: failed to compile with a shared front end in `{}`: {error}",
                    self.cache.display()
                );
                ExitCode::FAILURE
            }
        }
    }
}
