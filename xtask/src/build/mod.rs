//! From components and a toolchain to verified artifacts: a plan that can be printed, then its steps.

mod artifact;
mod cargo;
mod catalogue;
mod cmake;
mod compile_commands;
mod component;
mod environment;
mod error;
mod gate;
mod hip_lang;
mod key;
mod manifest;
mod plan;
mod project;
mod run;
mod rust;
mod settings;
mod sharing;
mod step;

pub(crate) use artifact::{Artifacts, Reuse};
pub(crate) use compile_commands::write_compile_commands;
#[cfg(test)]
pub(crate) use component::Kind as ComponentKind;
pub(crate) use component::{Component, Workspace, load_workspace};
pub(crate) use environment::{Parent, for_tools as tools_environment, toolchain_libraries};
pub(crate) use error::Error;
pub(crate) use key::OF_THE_IDE;
pub(crate) use manifest::{BuildManifest, MANIFEST_FILE, Output};
pub(crate) use plan::{BuildPlan, Launcher, Request, Step, Tools, make_plan};
pub(crate) use project::{load_project, source_root};
pub(crate) use rust::Rust;
pub(crate) use sharing::compile as compile_shared;
pub(crate) use step::{Outcome, build_all};
