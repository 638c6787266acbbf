//! Runs a plan: what is current is left alone, the rest is built side by side and published one by one.

use super::artifact::{Artifacts, Reuse};
use super::environment::{Parent, Variables};
use super::manifest::{BuildManifest, PackageRecord, SCHEMA, ToolchainRecord};
use super::plan::{BuildPlan, Launcher, Request, Step};
use super::{Error, cargo, cmake, environment, gate, hip_lang};
use crate::files::{self, Named};
use crate::lock::{Host, Part};
use crate::ui::{Ui, human_time, interrupted};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What became of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// `engine gfx1100`
    pub(crate) name: String,
    /// Why it was built; `None`: it was not.
    pub(crate) reason: Option<String>,
}

/// Builds every step that is not current. `jobs` compilers run at a time.
pub(crate) fn build_all(
    request: &Request,
    plan: &BuildPlan,
    parent: &Parent,
    jobs: usize,
    ui: &Ui,
) -> Result<Vec<Outcome>, Error> {
    let artifacts = Artifacts::at(request.artifacts.clone());
    let mut outcomes = Vec::new();
    let mut todo = Vec::new();
    for step in &plan.steps {
        artifacts.recover(step)?;
        let name = format!("{} {}", step.component.name, step.target);
        let reason = match artifacts.reuse(step) {
            Reuse::Current => {
                ui.phase("current", &format!("{name}, nothing to do"));
                None
            }
            Reuse::Rebuild(reason) => {
                ui.phase("build", &format!("{name} ({reason})"));
                todo.push(step);
                Some(reason)
            }
        };
        outcomes.push(Outcome { name, reason });
    }
    if todo.is_empty() {
        artifacts.point_to(&request.workspace.version)?;
        return Ok(outcomes);
    }
    let shared = Shared::prepare(request, &todo, parent, ui)?;
    let front_ends = request.work.join("front-ends");
    files::remove_tree(&front_ends)?;
    run_side_by_side(&todo, jobs, |step, jobs| {
        let start = Instant::now();
        let _job = ui.job("build", &format!("{} {}", step.component.name, step.target));
        let launcher = request.launcher.setting(step, &todo, &front_ends);
        build_one(request, step, &shared, &artifacts, &launcher, jobs)?;
        ui.phase(
            "built",
            &format!("{} {} in {}", step.component.name, step.target, human_time(start.elapsed())),
        );
        Ok(())
    })?;
    // They are large, and worth something only to targets that are built in one go: each artifact has its own key.
    files::remove_tree(&front_ends)?;
    artifacts.point_to(&request.workspace.version)?;
    Ok(outcomes)
}

/// What all steps have in common.
struct Shared {
    environment: Variables,
    compiler: String,
    /// By component.
    programs: BTreeMap<String, Vec<PathBuf>>,
}

impl Shared {
    fn prepare(request: &Request, todo: &[&Step], parent: &Parent, ui: &Ui) -> Result<Self, Error> {
        let toolchain = request.toolchain;
        for path in toolchain.parts.values().chain([&request.tools.cmake, &request.tools.ninja]) {
            if !path.exists() {
                return Err(Error::DamagedToolchain {
                    toolchain: toolchain.name.clone(),
                    path: path.clone(),
                });
            }
        }
        let compiler = &toolchain.parts[&Part::Compiler];
        let libraries = environment::toolchain_libraries(toolchain);
        let mut environment = environment::for_tools(parent, Host::THIS, &libraries);
        environment.extend(request.developer.iter().flat_map(|developer| developer.variables.clone()));
        if let Some(folder) = toolchain.parts.get(&Part::OffloadBundler).and_then(|path| path.parent()) {
            environment::find_first(&mut environment, folder, Host::THIS);
        }
        if let Launcher::Cache(_) = request.launcher {
            environment.extend(environment::for_compiler_cache(parent, Host::THIS, toolchain.digest));
        }
        let version = compiler_version(compiler, &environment)?;
        ui.detail(&format!("compiler: {version}"));
        let mut programs = BTreeMap::new();
        for step in todo {
            let component = &step.component;
            if programs.contains_key(&component.name) {
                continue;
            }
            let built = match &request.rust {
                Some(rust) if component.has_rust() => {
                    let names: Vec<&str> =
                        component.binaries.iter().chain(&component.library).map(String::as_str).collect();
                    ui.phase("cargo", &format!("{}: {}", component.name, names.join(", ")));
                    cargo::build(request.workspace, component, request.host, rust, &request.work, parent)?
                }
                _ => Vec::new(),
            };
            programs.insert(component.name.clone(), built);
        }
        Ok(Self { environment, compiler: version, programs })
    }
}

fn compiler_version(compiler: &Path, environment: &Variables) -> Result<String, Error> {
    let mut command = std::process::Command::new(compiler);
    let output = command
        .arg("--version")
        .env_clear()
        .envs(environment)
        .output()
        .map_err(|source| Error::Start { program: compiler.to_owned(), source })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match text.lines().next().filter(|_| output.status.success()) {
        // The other lines name folders of this machine.
        Some(line) => Ok(line.to_owned()),
        None => {
            let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(Error::Start { program: compiler.to_owned(), source: std::io::Error::other(words) })
        }
    }
}

/// Steps share the jobs: each has few TUs, so several steps keep all cores busy where one would not.
fn run_side_by_side(
    todo: &[&Step],
    jobs: usize,
    build: impl Fn(&Step, usize) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let workers = jobs.clamp(1, todo.len());
    let jobs_each = jobs.div_ceil(workers);
    let next = AtomicUsize::new(0);
    let failed = std::sync::atomic::AtomicBool::new(false);
    let work = || {
        while let Some(step) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failed.load(Ordering::Relaxed) || interrupted() {
                break;
            }
            if let Err(error) = build(step, jobs_each) {
                failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let results =
            threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.collect::<Vec<_>>().into_iter().collect::<Result<(), Error>>()
    })?;
    if interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}

fn build_one(
    request: &Request,
    step: &Step,
    shared: &Shared,
    artifacts: &Artifacts,
    launcher: &str,
    jobs: usize,
) -> Result<(), Error> {
    files::remove_tree(&step.staging)?;
    files::create_folder(&step.staging)?;
    let code_objects = match artifacts.twin(step) {
        Some(twin) => twin.copy(&step.staging)?,
        None => {
            forget_other_builds(request, step)?;
            hip_lang::write(step, request.toolchain)?;
            cmake::build(step, &request.tools, &shared.environment, launcher, jobs)?;
            gate::check(step, &cmake::recorded_flags(step)?)?
        }
    };
    for program in &shared.programs[&step.component.name] {
        let to = step.staging.join(program.file_name().unwrap_or_default());
        std::fs::copy(program, &to).named("copy", program)?;
    }
    for (from, to) in step.component.shared_files()? {
        let to = step.staging.join(to);
        files::create_folder(to.parent().unwrap_or(&step.staging))?;
        std::fs::copy(&from, &to).named("copy", &from)?;
    }
    // The compilers may have read what was written after the digests were taken.
    let changed = step.changed_sources(request.workspace)?;
    if !changed.is_empty() {
        return Err(Error::SourcesChanged {
            component: step.component.name.clone(),
            target: step.target,
            changed,
        });
    }
    let toolchain = request.toolchain;
    let packages = toolchain.packages.iter().map(|package| PackageRecord {
        name: package.receipt.package.clone(),
        version: package.receipt.version.clone(),
        key: package.receipt.key,
    });
    let manifest = BuildManifest {
        schema: SCHEMA,
        component: step.component.name.clone(),
        version: step.component.version.clone(),
        target: step.target.to_string(),
        host: request.host.to_string(),
        toolchain: ToolchainRecord {
            name: toolchain.name.clone(),
            rocm: toolchain.rocm.clone(),
            digest: toolchain.digest,
            packages: packages.collect(),
            pinned: toolchain.is_pinned,
        },
        lock: request.lock,
        compiler: shared.compiler.clone(),
        rustc: request.rust.as_ref().filter(|_| step.component.has_rust()).map(|rust| rust.version.clone()),
        settings: step.settings.iter().map(|s| (s.name.clone(), s.recorded.clone())).collect(),
        key: step.inputs.key(),
        inputs: step.inputs.clone(),
        outputs: cmake::outputs(&step.staging)?,
        code_objects,
    };
    Ok(artifacts.publish(step, &manifest)?)
}

/// CMake keeps settings that it is no longer told, and Ninja does not see that the compiler at a path is another one: a build folder serves only the
/// settings and the programs that it was made with.
fn forget_other_builds(request: &Request, step: &Step) -> Result<(), Error> {
    let stamp = step.build_folder.join("strata-settings.txt");
    let programs =
        [("toolchain", request.toolchain.digest.to_string()), ("tools", request.tools.versions.clone())];
    let settings = step.settings.iter().map(|s| (s.name.as_str(), s.value.clone()));
    let made_with: String = programs.into_iter().chain(settings).map(|(k, v)| format!("{k}={v}\n")).collect();
    if std::fs::read_to_string(&stamp).is_ok_and(|text| text == made_with) {
        return Ok(());
    }
    files::remove_tree(&step.build_folder)?;
    files::remove_tree(&step.hip_lang)?;
    files::create_folder(&step.build_folder)?;
    Ok(files::write_whole(&stamp, made_with.as_bytes())?)
}
