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
mod key;
mod manifest;
mod plan;
mod run;
mod sharing;
mod step;

pub(crate) use artifact::{Artifacts, Reuse};
pub(crate) use cargo::rust_version;
pub(crate) use compile_commands::write_compile_commands;
pub(crate) use component::{Component, Workspace, load_workspace};
pub(crate) use environment::{Parent, for_tools as tools_environment, toolchain_libraries};
pub(crate) use error::Error;
pub(crate) use manifest::{BuildManifest, MANIFEST_FILE, Output};
pub(crate) use plan::{BuildPlan, Launcher, Request, Step, Tools, make_plan};
pub(crate) use sharing::compile as compile_shared;
pub(crate) use step::{Outcome, build_all};
