//! The build plan: which component for which target, with which settings, from which inputs. Nothing is run to make it.

use super::Error;
use super::component::{Component, Kind, Workspace};
use super::key::{Inputs, RUST_SOURCES, RUST_TOOLCHAIN, SHARED_FILES, digest_sources};
use super::rust::Rust;
use super::settings::{Setting, digest_settings, settings};
use crate::digest::Sha256;
use crate::files;
use crate::host::visual_studio::DeveloperEnvironment;
use crate::lock::Host;
use crate::store::Installed;
use gfx::Target;
use std::path::{Path, PathBuf};

/// What somebody wants built.
#[derive(Debug, Clone)]
pub(crate) struct Request<'a> {
    /// The workspace.
    pub(crate) workspace: &'a Workspace,
    /// Which of its components.
    pub(crate) components: Vec<&'a Component>,
    /// For which targets.
    pub(crate) targets: Vec<Target>,
    /// With what.
    pub(crate) toolchain: &'a Installed,
    /// Programs of the build, from the toolchain or the machine.
    pub(crate) tools: Tools,
    /// For which host: the machine that runs the programs. The build runs on this one.
    pub(crate) host: Host,
    /// The lock's digest.
    pub(crate) lock: Sha256,
    /// What makes the programs; `None`: there are none.
    pub(crate) rust: Option<Rust>,
    /// Where artifacts go.
    pub(crate) artifacts: PathBuf,
    /// Where build folders and logs go.
    pub(crate) work: PathBuf,
    /// What starts the compilers.
    pub(crate) launcher: Launcher,
    /// Of Visual Studio, where the compiler needs one.
    pub(crate) developer: Option<DeveloperEnvironment>,
}

/// What CMake starts compilers through. It changes nothing about their output, so it is no input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Launcher {
    /// xtask, where several targets of a family are built, so that they share the front end (see [`super::sharing`]); else nothing.
    Sharing,
    /// Nothing.
    None,
    /// A compiler cache, by full path.
    Cache(PathBuf),
}

impl Launcher {
    /// CMake's `CMAKE_CXX_COMPILER_LAUNCHER` for one of `steps`; empty: none.
    pub(super) fn setting(&self, step: &Step, steps: &[&Step], front_ends: &Path) -> String {
        let is_relative = |other: &&&Step| {
            other.component.name == step.component.name
                && other.target != step.target
                && other.target.wmma() == step.target.wmma()
        };
        match self {
            Self::Cache(program) => files::forward_slashes(program),
            Self::Sharing if steps.iter().any(|other| is_relative(&other)) => {
                let xtask = std::env::current_exe().unwrap_or_else(|_| "xtask".into());
                format!("{};compile;{}", files::forward_slashes(&xtask), files::forward_slashes(front_ends))
            }
            Self::Sharing | Self::None => String::new(),
        }
    }
}

/// The programs that drive a build, by full path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tools {
    /// At least 3.24.
    pub(crate) cmake: PathBuf,
    /// At least 1.10.
    pub(crate) ninja: PathBuf,
    /// `cmake 4.4.5, ninja 1.13.2`, with `(PATH)` after one that is the machine's own.
    pub(crate) versions: String,
}

/// Everything that will be done.
#[derive(Debug, Clone)]
pub(crate) struct BuildPlan {
    /// One for each component and target.
    pub(crate) steps: Vec<Step>,
}

/// One component for one target.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The component.
    pub(crate) component: Component,
    /// The target.
    pub(crate) target: Target,
    /// The machine that runs the programs.
    pub(crate) host: Host,
    /// CMake's settings.
    pub(crate) settings: Vec<Setting>,
    /// What the outputs depend on.
    pub(crate) inputs: Inputs,
    /// A project's files when this was planned: a build may write more into its folder.
    project_files: Vec<PathBuf>,
    /// CMake's build folder.
    pub(crate) build_folder: PathBuf,
    /// Where a project finds the HIP language's package.
    pub(crate) hip_lang: PathBuf,
    /// Where the step's logs go.
    pub(crate) logs: PathBuf,
    /// The artifact folder.
    pub(crate) output: PathBuf,
    /// Where the artifact is put together.
    pub(crate) staging: PathBuf,
}

/// Plans every component of the request for every target of it.
pub(crate) fn make_plan(request: &Request) -> Result<BuildPlan, Error> {
    let mut steps = Vec::new();
    for component in &request.components {
        let project_files = project_files(request.workspace, component)?;
        let inputs = source_digests(request.workspace, component, &project_files)?;
        let sources = Sources { project_files, inputs };
        for target in &request.targets {
            steps.push(plan_step(request, component, *target, &sources)?);
        }
    }
    Ok(BuildPlan { steps })
}

/// The sources of a component, which are the same for every target.
struct Sources {
    project_files: Vec<PathBuf>,
    inputs: Inputs,
}

fn source_digests(
    workspace: &Workspace,
    component: &Component,
    project_files: &[PathBuf],
) -> Result<Inputs, Error> {
    let root = &workspace.root;
    let mut inputs = Inputs::default();
    let native = match component.kind {
        Kind::Kernels => vec![component.native.clone(), root.join("cmake")],
        Kind::Project { .. } => project_files.to_vec(),
    };
    inputs.add("native sources", digest_sources(root, &native)?);
    if !component.share.is_empty() {
        let files: Vec<PathBuf> = component.shared_files()?.into_iter().map(|(path, _)| path).collect();
        inputs.add(SHARED_FILES, digest_sources(root, &files)?);
    }
    if component.has_rust() {
        let of_crate = |folder: &PathBuf| {
            ["Cargo.toml", "build.rs", "src"]
                .map(|name| folder.join(name))
                .into_iter()
                .filter(|path| path.exists())
        };
        let mut sources: Vec<PathBuf> = component.crates.iter().flat_map(of_crate).collect();
        sources.extend(["Cargo.toml", "Cargo.lock"].map(|name| root.join(name)));
        inputs.add(RUST_SOURCES, digest_sources(root, &sources)?);
    }
    Ok(inputs)
}

impl Step {
    /// Which of the sources are not those that the inputs describe any more.
    pub(super) fn changed_sources(&self, workspace: &Workspace) -> Result<Vec<String>, Error> {
        let there: Vec<PathBuf> = self.project_files.iter().filter(|path| path.exists()).cloned().collect();
        let now = source_digests(workspace, &self.component, &there)?;
        let is_changed = |(name, digest): &(String, Sha256)| self.inputs.0.get(name) != Some(digest);
        Ok(now.0.into_iter().filter(is_changed).map(|(name, _)| name).collect())
    }
}

/// Everything in a project's folder but what tools keep in folders of theirs, such as `.git`.
fn project_files(workspace: &Workspace, component: &Component) -> Result<Vec<PathBuf>, files::Error> {
    if component.kind == Kind::Kernels {
        return Ok(Vec::new());
    }
    let root = &workspace.root;
    let is_of_a_tool =
        |path: &String| path.split('/').any(|part| part.starts_with('.') || part == "__pycache__");
    let files = files::list(root)?.into_iter().filter(|path| !is_of_a_tool(path));
    Ok(files.map(|path| root.join(path)).collect())
}

fn plan_step(
    request: &Request,
    component: &Component,
    target: Target,
    sources: &Sources,
) -> Result<Step, Error> {
    let host = request.host.triple();
    let place = |root: &Path| root.join(host).join(&component.name).join(target.name());
    let hip_lang = place(&request.work).join("hip-lang");
    let settings = settings(request, component, target, &hip_lang)?;
    let mut inputs = sources.inputs.clone();
    inputs.add("toolchain", request.toolchain.digest);
    inputs.add("lock", request.lock);
    inputs.add("flags", digest_settings(&settings));
    inputs.add("build tools", Sha256::of(request.tools.versions.as_bytes()));
    inputs.add("xtask", Sha256::of(env!("CARGO_PKG_VERSION").as_bytes()));
    if let Some(developer) = &request.developer {
        inputs.add("Visual Studio", Sha256::of(developer.versions.as_bytes()));
    }
    if component.has_rust() {
        let version = request.rust.as_ref().map_or("", |rust| &rust.version);
        inputs.add(RUST_TOOLCHAIN, Sha256::of(version.as_bytes()));
    }
    Ok(Step {
        target,
        host: request.host,
        settings,
        inputs,
        project_files: sources.project_files.clone(),
        build_folder: place(&request.work).join("cmake"),
        hip_lang,
        logs: place(&request.work).join("logs"),
        output: place(&request.artifacts.join(&request.workspace.version)),
        staging: request.artifacts.join("staging").join(format!("{host}-{}-{target}", component.name)),
        component: (*component).clone(),
    })
}
