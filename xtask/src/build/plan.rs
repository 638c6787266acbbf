//! The build plan: which component for which target, with which settings, from which inputs. Nothing is run to make it.

use super::Error;
use super::component::{Component, Workspace};
use super::key::{Inputs, digest_sources};
use crate::digest::{Hasher, Sha256};
use crate::files;
use crate::host::visual_studio::DeveloperEnvironment;
use crate::lock::{Host, Part};
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
    /// For which host.
    pub(crate) host: Host,
    /// The lock's digest.
    pub(crate) lock: Sha256,
    /// What `rustc -vV` and `cc --version` print.
    pub(crate) rust: String,
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
    /// CMake's settings.
    pub(crate) settings: Vec<Setting>,
    /// What the outputs depend on.
    pub(crate) inputs: Inputs,
    /// CMake's build folder.
    pub(crate) build_folder: PathBuf,
    /// Where the step's logs go.
    pub(crate) logs: PathBuf,
    /// The artifact folder.
    pub(crate) output: PathBuf,
    /// Where the artifact is put together.
    pub(crate) staging: PathBuf,
}

/// `-D<name>=<value>`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// CMake's variable.
    pub(crate) name: String,
    /// With this machine's paths, always with forward slashes.
    pub(crate) value: String,
    /// With places in angle brackets: what goes into BUILD.json and the key.
    pub(crate) recorded: String,
}

/// Plans every component of the request for every target of it.
pub(crate) fn make_plan(request: &Request) -> Result<BuildPlan, Error> {
    let mut steps = Vec::new();
    for component in &request.components {
        let sources = source_digests(request.workspace, component)?;
        for target in &request.targets {
            steps.push(plan_step(request, component, *target, &sources)?);
        }
    }
    Ok(BuildPlan { steps })
}

fn source_digests(workspace: &Workspace, component: &Component) -> Result<Inputs, Error> {
    let root = &workspace.root;
    let mut inputs = Inputs::default();
    inputs.add("native sources", digest_sources(root, &[component.native.clone(), root.join("cmake")])?);
    if !component.share.is_empty() {
        let files: Vec<PathBuf> = component.shared_files()?.into_iter().map(|(path, _)| path).collect();
        inputs.add("shared files", digest_sources(root, &files)?);
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
        inputs.add("Rust sources", digest_sources(root, &sources)?);
    }
    Ok(inputs)
}

fn plan_step(
    request: &Request,
    component: &Component,
    target: Target,
    sources: &Inputs,
) -> Result<Step, Error> {
    let settings = settings(request, component, target)?;
    let mut inputs = sources.clone();
    inputs.add("toolchain", request.toolchain.digest);
    inputs.add("lock", request.lock);
    inputs.add("flags", digest_settings(&settings));
    inputs.add("build tools", Sha256::of(request.tools.versions.as_bytes()));
    inputs.add("xtask", Sha256::of(env!("CARGO_PKG_VERSION").as_bytes()));
    if let Some(developer) = &request.developer {
        inputs.add("Visual Studio", Sha256::of(developer.versions.as_bytes()));
    }
    if component.has_rust() {
        inputs.add("Rust toolchain", Sha256::of(request.rust.as_bytes()));
    }
    let host = request.host.triple();
    let place = |root: &Path| root.join(host).join(&component.name).join(target.name());
    Ok(Step {
        target,
        settings,
        inputs,
        build_folder: place(&request.work).join("cmake"),
        logs: place(&request.work).join("logs"),
        output: place(&request.artifacts.join(&request.workspace.version)),
        staging: request.artifacts.join("staging").join(format!("{host}-{}-{target}", component.name)),
        component: (*component).clone(),
    })
}

fn settings(request: &Request, component: &Component, target: Target) -> Result<Vec<Setting>, Error> {
    let toolchain = request.toolchain;
    let part = |part: Part| {
        toolchain.parts.get(&part).map(PathBuf::as_path).ok_or_else(|| Error::MissingPart {
            component: component.name.clone(),
            part: part.name().to_owned(),
            toolchain: toolchain.name.clone(),
        })
    };
    let literal = |name: &str, value: &str| Setting {
        name: name.to_owned(),
        value: value.to_owned(),
        recorded: value.to_owned(),
    };
    let path = |name: &str, value: &Path, recorded: &str| Setting {
        name: name.to_owned(),
        value: files::forward_slashes(value),
        recorded: recorded.to_owned(),
    };
    let clang_cxx = part(Part::Compiler)?;
    let exe = request.host.exe_suffix();
    let clang = clang_cxx.with_file_name(format!("clang{exe}"));
    let mut settings = vec![
        literal("CMAKE_BUILD_TYPE", "Release"),
        literal("CMAKE_EXPORT_COMPILE_COMMANDS", "ON"),
        // Nothing is linked for the host, so a machine without a host's C library can build kernels.
        literal("CMAKE_TRY_COMPILE_TARGET_TYPE", "STATIC_LIBRARY"),
        path("CMAKE_MAKE_PROGRAM", &request.tools.ninja, "<ninja>"),
        path("CMAKE_C_COMPILER", &clang, "<compiler>/clang"),
        path("CMAKE_CXX_COMPILER", clang_cxx, "<compiler>/clang++"),
        literal("STRATA_TARGET", target.name()),
        path("STRATA_HIP_ROOT", part(Part::Hip)?, "<hip>"),
    ];
    if let Some(folder) = toolchain.parts.get(&Part::DeviceLibs) {
        settings.push(path("STRATA_DEVICE_LIBS", folder, "<device-libs>"));
    }
    for source in &component.sources {
        let name = format!("{}_ROOT", source.name().replace('-', "_").to_uppercase());
        settings.push(path(&name, part(*source)?, &format!("<{}>", source.name())));
    }
    Ok(settings)
}

fn digest_settings(settings: &[Setting]) -> Sha256 {
    let mut hasher = Hasher::new();
    for setting in settings {
        hasher.field(&setting.name);
        hasher.field(&setting.recorded);
    }
    hasher.finish().0
}
