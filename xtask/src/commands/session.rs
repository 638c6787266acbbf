//! What every command starts from: the workspace, the lock, the store, and the machine's own settings.

use super::bootstrap::From;
use crate::build;
use crate::cli::Global;
use crate::fetch::{Context, Mirrors, Timing};
use crate::files::ProcessLock;
use crate::host::visual_studio::{self, ClangHeaders, DeveloperEnvironment};
use crate::host::{Detection, Gpu, detect_gpus, sdk};
use crate::lock::{self, Host, Part, Selected};
use crate::store::{Installed, Store, load_installed};
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
        Self::new(format!("unknown host `{triple}`"), format!("--host takes {}", Host::triples()))
    }
}

/// `--targets native` on a machine that does not say what it has.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NativeError {
    /// No AMD GPU.
    #[error("--targets native: this machine has no AMD GPU that a driver lists")]
    NoGpu,
    /// GPUs, but none that is a target.
    #[error("--targets native: nothing can be built for this machine's GPUs:{}", .0.iter().map(|gpu| format!("\n  {gpu}")).collect::<String>())]
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

    /// Keeps others that build or pack in this workspace away as long as the value lives: they share folders, and each would remove what the
    /// other is making.
    pub(crate) fn lock_builds(&self) -> anyhow::Result<ProcessLock> {
        let path = self.root.join("target").join("xtask").join("build.lock");
        let lock = ProcessLock::acquire(&path, "building or packing in this workspace", self.ui)?;
        Ok(lock.ok_or(build::Error::Interrupted)?)
    }

    /// The checked lock.
    pub(crate) fn lock(&self) -> Result<lock::Lock, lock::Error> {
        let mut lock = lock::load(&self.lock_path())?;
        if self.global.toolchain == lock::SYSTEM {
            lock.add_system(Host::THIS);
        }
        Ok(lock)
    }

    /// The toolchain that `--toolchain` names, for this machine.
    pub(crate) fn select<'l>(&self, lock: &'l lock::Lock) -> Result<Selected<'l>, lock::Error> {
        lock::select(lock, &self.global.toolchain, Host::THIS)
    }

    /// The targets that `text` names, all of which the toolchain builds.
    pub(crate) fn targets(&self, text: &str, selected: Selected) -> anyhow::Result<Vec<gfx::Target>> {
        let selection = gfx::Selection::parse(text)?;
        let native = || native_targets(&detect_gpus(&self.hip_roots(selected)));
        let targets = selection.resolve(&selected.toolchain.targets, native)?;
        selected.check_targets(&targets)?;
        Ok(targets)
    }

    /// The selected toolchain, all of which is there.
    pub(crate) fn installed(&self, selected: Selected) -> anyhow::Result<Installed> {
        self.complete(load_installed(&self.store, selected)?)
    }

    /// Adds this machine's SDK to the toolchain `system`; others are whole.
    pub(crate) fn complete(&self, installed: Installed) -> anyhow::Result<Installed> {
        if installed.name != lock::SYSTEM {
            return Ok(installed);
        }
        let candidates = self.sdks();
        let good = candidates.iter().find_map(|c| Some((&c.path, c.verdict.as_ref().ok()?)));
        let Some((path, sdk)) = good else {
            let refused = |c: &sdk::Candidate| {
                Some(format!("\n  {} (`{}`): {}", c.origin, c.path.display(), c.verdict.as_ref().err()?))
            };
            let reasons: String = candidates.iter().filter_map(refused).collect();
            let what = "--toolchain system: this machine has no ROCm or HIP SDK that can compile";
            return Err(MissingPrerequisite {
                what: format!("{what}{reasons}"),
                mend:
                    "name its folder, STRATA_HIP_ROOT=DIR, or use a pinned toolchain: cargo xtask bootstrap"
                        .into(),
            }
            .into());
        };
        self.ui.warn(&format!(
            "toolchain system: {} at `{}` is not pinned, so what it builds is not for a release",
            sdk.version,
            path.display()
        ));
        Ok(installed.with_sdk(path, &sdk.version, &sdk.layout)?)
    }

    /// The SDKs of this machine, in the order of preference.
    pub(crate) fn sdks(&self) -> Vec<sdk::Candidate> {
        sdk::candidates(&sdk::places(&self.root, &self.store), Host::THIS)
    }

    /// A release is made of pinned bytes only.
    pub(crate) fn refuse_unpinned(&self, selected: Selected) -> Result<(), MissingPrerequisite> {
        match selected.toolchain.name == lock::SYSTEM {
            false => Ok(()),
            true => Err(MissingPrerequisite {
                what: "--toolchain system is not pinned: a release is made with a toolchain of the lock".into(),
                mend: "`cargo xtask lock show` lists the toolchains; `build --toolchain system` compiles for this machine".into(),
            }),
        }
    }

    /// The Visual C++ redistributable of this machine's Visual Studio, for a toolchain that links against it.
    pub(crate) fn redistributable(&self, selected: Selected) -> Option<PathBuf> {
        let needs_it = selected.toolchain.host == Host::WindowsMsvc && cfg!(windows);
        let survey = needs_it.then(|| visual_studio::survey(ClangHeaders::Unknown))?;
        survey.chosen()?.1.redist.clone()
    }

    /// The environment of Visual Studio, for a compiler that takes its headers from there.
    pub(crate) fn developer_environment(
        &self,
        selected: Selected,
        installed: &Installed,
    ) -> Result<Option<DeveloperEnvironment>, visual_studio::Error> {
        if selected.toolchain.host != Host::WindowsMsvc || !cfg!(windows) {
            return Ok(None);
        }
        let headers = installed.parts.get(&Part::Compiler).map(|clang| ClangHeaders::of_compiler(clang));
        let survey = visual_studio::survey(headers.unwrap_or_default());
        let base = build::tools_environment(&build::Parent::of_process(), Host::WindowsMsvc, &[]);
        let cache = self.root.join("target/xtask/developer-environment.json");
        visual_studio::developer_environment(&survey, &base, &cache).map(Some)
    }

    /// Where a hipInfo may lie: the toolchain's, if it is installed, then those of SDKs.
    pub(crate) fn hip_roots(&self, selected: Selected) -> Vec<PathBuf> {
        let installed = load_installed(&self.store, selected).ok();
        let own = installed.and_then(|installed| installed.parts.get(&Part::Hip).cloned());
        sdk::hip_roots(own, &self.sdks())
    }

    /// What fetching needs.
    pub(crate) fn fetching(&self, from: &From) -> Context<'a> {
        let from_environment = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        // Durations are made of them: not of less than nothing, and not of more than there are.
        let number = |name| {
            let number = from_environment(name).and_then(|text| text.parse().ok());
            number.filter(|number| (0.0..=1e6).contains(number))
        };
        let timing = Timing {
            retry_scale: number("STRATA_RETRY_SCALE").unwrap_or(1.0),
            stall: std::time::Duration::from_secs_f64(number("STRATA_STALL_SECONDS").unwrap_or(60.0)),
            connections: from.connections,
        };
        Context {
            ui: self.ui,
            debian: Mirrors::of_machine(),
            mirrors: from.mirrors.clone(),
            offline: from.offline,
            timing,
        }
    }
}

/// Cargo says where xtask's own manifest is; without cargo the current folder has to be the workspace.
pub(crate) fn workspace_root() -> PathBuf {
    match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(manifest) => Path::new(&manifest).parent().map(Path::to_owned).unwrap_or_default(),
        None => std::env::current_dir().unwrap_or_else(|_| ".".into()),
    }
}

/// What `--targets native` stands for.
fn native_targets(found: &Detection) -> Result<Vec<gfx::Target>, NativeError> {
    let targets = found.native_targets();
    match (found.gpus.is_empty(), targets.is_empty()) {
        (true, _) => Err(NativeError::NoGpu),
        (_, true) => {
            let refused = |gpu: &Gpu| Some(format!("{}: {}", gpu.label(), gpu.refusal()?));
            Err(NativeError::Unsupported(found.gpus.iter().filter_map(refused).collect()))
        }
        _ => Ok(targets),
    }
}
