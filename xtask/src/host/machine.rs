//! Everything that `doctor` looks at, as plain data: what it says of it is the same on every system, and tested on any.

use super::programs::Program;
use super::{Detection, sdk, visual_studio};
use crate::lock::Host;
use gfx::Target;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One machine.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    /// What xtask was built for.
    pub(crate) host: Host,
    /// The toolchains of the lock for this machine.
    pub(crate) toolchains: Vec<Toolchain>,
    /// Which of them is chosen.
    pub(crate) chosen: String,
    /// What the chosen one builds.
    pub(crate) targets: Vec<Target>,
    /// SDKs outside the store.
    pub(crate) sdks: Vec<sdk::Candidate>,
    /// GPUs.
    pub(crate) gpus: Detection,
    /// The version of Linux's amdgpu module; Windows has one for each card.
    pub(crate) kernel_driver: Option<String>,
    /// Libraries of HIP runtimes: the runtime itself first, each in the order in which a program finds them.
    pub(crate) runtimes: Vec<Runtime>,
    /// The version of the HIP runtime in the chosen toolchain.
    pub(crate) own_runtime: Option<String>,
    /// Visual Studio and the Windows SDK, where the chosen toolchain's compiler needs them.
    pub(crate) studio: Option<visual_studio::Survey>,
    /// Programs that a build or a bootstrap starts.
    pub(crate) programs: Vec<Needed>,
    /// What keeps the chosen toolchain's missing packages from being fetched, and what mends it.
    pub(crate) hindrances: Vec<Hindrance>,
    /// Where things are written.
    pub(crate) volumes: Vec<Volume>,
    /// Characters of the longest path that the chosen toolchain has in the store, where the lock tells.
    pub(crate) longest_path: Option<usize>,
    /// Windows' setting for paths over 259 characters; `None` elsewhere.
    pub(crate) long_paths: Option<bool>,
    /// Whether Windows has a page file; `None` elsewhere.
    pub(crate) page_file: Option<bool>,
    /// The environment.
    pub(crate) variables: BTreeMap<String, String>,
}

/// A toolchain of the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toolchain {
    /// Its name.
    pub(crate) name: String,
    /// Its ROCm release.
    pub(crate) rocm: String,
    /// How it is.
    pub(crate) state: State,
}

/// How a toolchain is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// In the store, with this many packages.
    Installed(usize),
    /// Not, or not all of it: what is missing, and the bytes that are to be fetched as far as they are known.
    Missing(String, u64),
    /// In the store, and not as it was installed.
    Broken(String),
}

/// A library of the HIP runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Runtime {
    /// What a program asks for, e.g. `amdhip64_7.dll`.
    pub(crate) library: &'static str,
    /// The file that it would get.
    pub(crate) path: PathBuf,
    /// What leads to it, e.g. `System32`, `LD_LIBRARY_PATH`, `ldconfig`.
    pub(crate) found_by: String,
    /// As its file tells it.
    pub(crate) version: Option<String>,
}

/// A program and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needed {
    /// Its name.
    pub(crate) name: &'static str,
    /// The oldest that will do.
    pub(crate) minimum: [u32; 2],
    /// Why it is needed; `None`: the toolchain has its own.
    pub(crate) purpose: Option<&'static str>,
    /// What there is.
    pub(crate) found: Option<Program>,
    /// What installs it.
    pub(crate) install: &'static str,
}

/// Something without which nothing can be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hindrance {
    /// What is wrong.
    pub(crate) what: String,
    /// What mends it.
    pub(crate) mend: String,
}

/// A place where things are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Volume {
    /// For what, e.g. `the store`.
    pub(crate) what: &'static str,
    /// Where.
    pub(crate) path: PathBuf,
    /// Bytes; `None`: the system does not say.
    pub(crate) free: Option<u64>,
    /// Bytes that are about to be needed.
    pub(crate) needed: u64,
    /// The option that chooses another place.
    pub(crate) option: &'static str,
}
