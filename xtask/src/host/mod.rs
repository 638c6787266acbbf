//! What this machine has. Edges read it into plain data, everything that decides is a pure function of that.

mod checks;
mod gpu;
mod machine;
mod process;
mod programs;
mod runtime;
pub(crate) mod sdk;
mod survey;
mod version;
pub(crate) mod visual_studio;
mod windows_value;

pub(crate) use checks::{Check, Verdict, checks};
pub(crate) use gpu::{Detection, Gpu, detect as detect_gpus};
pub(crate) use machine::Machine;
pub(crate) use programs::{MINIMUM_CMAKE, MINIMUM_NINJA, find_program};
pub(crate) use survey::{Question, survey};
pub(crate) use windows_value::windows_value;

use std::path::PathBuf;

/// The folder that a variable of the environment names; an empty one names none.
fn folder_of_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Windows' own folder.
fn windows_folder() -> PathBuf {
    folder_of_variable("SystemRoot").unwrap_or_else(|| r"C:\Windows".into())
}
