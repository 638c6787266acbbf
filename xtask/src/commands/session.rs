//! What every command starts from: the workspace, the lock, the store, and the machine's own settings.

use super::bootstrap::From;
use crate::cli::Global;
use crate::fetch::{Context, Mirrors, Timing, read_machine_sources};
use crate::lock::{self, Host, Selected};
use crate::store::Store;
use crate::ui::Ui;
use std::path::{Path, PathBuf};

/// One run of xtask.
pub(crate) struct Session<'a> {
    /// Talk and data.
    pub(crate) ui: &'a Ui,
    /// The global options.
    pub(crate) global: &'a Global,
    /// The workspace.
    pub(crate) root: PathBuf,
    /// The store.
    pub(crate) store: Store,
}

/// A program or setting that the machine lacks: exit code 6.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct MissingPrerequisite {
    /// What is missing.
    pub(crate) what: String,
    /// The command that mends it.
    pub(crate) mend: String,
}

/// Options or names that do not make sense: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Usage {
    /// What is wrong.
    pub(crate) what: String,
    /// What to type instead.
    pub(crate) mend: String,
}

impl Usage {
    /// Both.
    pub(crate) fn new(what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what: what.into(), mend: mend.into() }
    }

    /// A triple that is no host of the lock's format.
    pub(crate) fn unknown_host(triple: &str) -> Self {
        let known = Host::ALL.map(Host::triple).join(", ");
        Self::new(format!("unknown host `{triple}`"), format!("--host takes {known}"))
    }
}

/// `--targets native` on a machine that does not say what it has.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NativeError {
    /// No AMD GPU.
    #[error("--targets native: the kernel's driver lists no AMD GPU")]
    NoGpu,
    /// GPUs, but none that is a target.
    #[error("--targets native: no target of this project is among the GPUs: {}", .0.join(", "))]
    Unsupported(Vec<String>),
}

impl<'a> Session<'a> {
    /// Reads the surroundings once.
    pub(crate) fn open(global: &'a Global, ui: &'a Ui) -> anyhow::Result<Self> {
        let root = workspace_root();
        let store = match &global.store {
            Some(path) => std::path::absolute(path)?,
            None => root.join("store"),
        };
        Ok(Self { ui, global, root, store: Store::at(store) })
    }

    /// Where toolchains.lock lies.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.root.join("toolchains.lock")
    }

    /// The checked lock.
    pub(crate) fn lock(&self) -> Result<lock::Lock, lock::Error> {
        lock::load(&self.lock_path())
    }

    /// The toolchain that `--toolchain` names, for this machine.
    pub(crate) fn select<'l>(&self, lock: &'l lock::Lock) -> Result<Selected<'l>, lock::Error> {
        lock::select(lock, &self.global.toolchain, Host::THIS)
    }

    /// The targets that `text` names, all of which the toolchain builds.
    pub(crate) fn targets(&self, text: &str, selected: Selected) -> anyhow::Result<Vec<gfx::Target>> {
        let selection = gfx::Selection::parse(text)?;
        let targets = selection.resolve(&selected.toolchain.targets, native_targets)?;
        selected.check_targets(&targets)?;
        Ok(targets)
    }

    /// What fetching needs.
    pub(crate) fn fetching(&self, from: &From) -> Context<'a> {
        let from_environment = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let debian = Mirrors::of_sources(&read_machine_sources()).overridden(
            from_environment("STRATA_DEBIAN_MIRROR"),
            from_environment("STRATA_DEBIAN_SECURITY_MIRROR"),
        );
        let number = |name| from_environment(name).and_then(|text| text.parse().ok());
        let timing = Timing {
            retry_scale: number("STRATA_RETRY_SCALE").unwrap_or(1.0),
            stall: std::time::Duration::from_secs_f64(number("STRATA_STALL_SECONDS").unwrap_or(60.0)),
            connections: from.connections,
        };
        Context { ui: self.ui, debian, mirrors: from.mirrors.clone(), offline: from.offline, timing }
    }
}

/// Cargo says where xtask's own manifest is; without cargo the current folder has to be the workspace.
pub(crate) fn workspace_root() -> PathBuf {
    match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(manifest) => Path::new(&manifest).parent().map(Path::to_owned).unwrap_or_default(),
        None => std::env::current_dir().unwrap_or_else(|_| ".".into()),
    }
}

fn native_targets() -> Result<Vec<gfx::Target>, NativeError> {
    let gpus = crate::host::gpus();
    let targets: Vec<gfx::Target> = gpus.iter().filter_map(|gpu| gpu.target).collect();
    match (gpus.is_empty(), targets.is_empty()) {
        (true, _) => Err(NativeError::NoGpu),
        (_, true) => Err(NativeError::Unsupported(gpus.into_iter().map(|gpu| gpu.arch).collect())),
        _ => Ok(targets),
    }
}
