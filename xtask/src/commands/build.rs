//! `cargo xtask build`

use super::{MissingPrerequisite, Session, Usage};
use crate::build::{
    self, Artifacts, BuildPlan, Launcher, Outcome, Parent, Request, Reuse, Rust, Tools, Workspace, build_all,
    load_project, load_workspace, make_plan, source_root, write_compile_commands,
};
use crate::host::{MINIMUM_CMAKE, MINIMUM_NINJA, find_program};
use crate::lock::{Host, Lock, Part, Selected};
use crate::store::Installed;
use crate::ui::counted;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Build the components for each target into artifact folders
///
/// Compiles with the toolchain's clang in an environment made from nothing. What is already built from the same inputs is left alone.
#[derive(Debug, Args)]
pub(crate) struct Build {
    #[command(flatten)]
    pub(super) what: What,
    /// Print the plan, and build nothing
    #[arg(long)]
    dry_run: bool,
    /// Print who can build what, as a matrix for a CI service: one line of JSON with an entry for each target; needs no toolchain
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "dry_run")]
    plan: Option<PlanFormat>,
}

/// The form of `--plan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PlanFormat {
    /// `{"include": [{"target": …, "host": …, "toolchain": …, "components": […], "lock": …}]}`
    Json,
}

/// What is built, for `build` and `release`.
#[derive(Debug, Default, Args)]
pub(crate) struct What {
    /// Targets: gfx names, dist families, `native` or `all`, separated by commas
    #[arg(long, default_value = "gfx1100,gfx1201", value_name = "LIST")]
    pub(super) targets: String,
    /// Host that runs the programs: this machine's, or from Linux also x86_64-pc-windows-gnu
    #[arg(long, value_name = "TRIPLE", default_value = Host::THIS.triple(), value_parser = host)]
    pub(super) host: Host,
    /// Build only this component; may be given several times
    #[arg(long = "component", value_name = "NAME")]
    pub(super) components: Vec<String>,
    /// Build the CMake project in this folder, or of this source package of the toolchain, which a component.toml describes, in place of the workspace's components
    #[arg(long, value_name = "DIR|NAME", conflicts_with = "components")]
    from: Option<PathBuf>,
    /// How many compilers run at a time [default: the number of cores]
    #[arg(long, short, value_name = "N")]
    pub(super) jobs: Option<std::num::NonZeroUsize>,
    /// Start compilers through a compiler cache; its key includes the toolchain's digest
    #[arg(long, value_enum, value_name = "PROGRAM")]
    launcher: Option<CompilerCache>,
    /// Compile each target on its own, from the first step on: the same bytes, and more time
    #[arg(long)]
    no_sharing: bool,
}

/// A host by its Rust triple.
pub(super) fn host(triple: &str) -> Result<Host, String> {
    Host::from_triple(triple).ok_or_else(|| format!("the hosts are {}", Host::triples()))
}

/// A compiler cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CompilerCache {
    Ccache,
    Sccache,
}

impl CompilerCache {
    fn name(self) -> &'static str {
        match self {
            Self::Ccache => "ccache",
            Self::Sccache => "sccache",
        }
    }

    fn find(self) -> Result<PathBuf, MissingPrerequisite> {
        let name = self.name();
        let missing = || MissingPrerequisite {
            what: format!("--launcher {name}: there is no {name} on the PATH"),
            mend: format!("install {name}, or leave --launcher out"),
        };
        find_program(name, [0, 0]).map(|program| program.path).ok_or_else(missing)
    }
}

impl Build {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let lock = session.lock()?;
        let selected = session.select(&lock)?;
        if let Some(PlanFormat::Json) = self.plan {
            return self.print_matrix(session, &lock, selected);
        }
        let installed = session.installed(selected)?;
        if self.dry_run {
            let workspace = self.what.workspace(session, selected)?;
            let request = self.what.request(session, &lock, selected, &workspace, &installed, false)?;
            return preview(session, &request, &make_plan(&request)?);
        }
        let _alone = session.lock_builds()?;
        let outcomes = self.what.build(session, &lock, selected, &installed, false)?;
        let built = outcomes.iter().map(|outcome| json!({"name": outcome.name, "reason": outcome.reason}));
        let new = outcomes.iter().filter(|outcome| outcome.reason.is_some()).count();
        let text = format!("{}, {new} built", counted(outcomes.len(), "artifact"));
        session.ui.data(&text, &json!({"artifacts": built.collect::<Vec<_>>()}));
        Ok(())
    }
}

impl Build {
    /// What one machine builds is one entry; `dist --merge` joins what they made.
    fn print_matrix(&self, session: &Session, lock: &Lock, selected: Selected) -> anyhow::Result<()> {
        let workspace = self.what.workspace(session, selected)?;
        let components: Vec<&str> =
            workspace.choose(&self.what.components)?.into_iter().map(|c| c.name.as_str()).collect();
        let entry = |target: gfx::Target| {
            json!({
                "target": target.name(),
                "host": self.what.host.triple(),
                "toolchain": selected.toolchain.name,
                "components": components,
                "lock": lock.digest,
            })
        };
        let targets = session.targets(&self.what.targets, selected)?;
        let matrix = json!({"include": targets.into_iter().map(entry).collect::<Vec<_>>()});
        session.ui.data(&matrix.to_string(), &matrix);
        Ok(())
    }
}

impl What {
    /// Builds what is not current; `is_offline`: cargo may use only what is on this machine.
    pub(super) fn build(
        &self,
        session: &Session,
        lock: &Lock,
        selected: Selected,
        installed: &Installed,
        is_offline: bool,
    ) -> anyhow::Result<Vec<Outcome>> {
        let workspace = self.workspace(session, selected)?;
        let request = self.request(session, lock, selected, &workspace, installed, is_offline)?;
        let plan = make_plan(&request)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = self.jobs.map_or(cores, usize::from);
        let outcomes = build_all(&request, &plan, &Parent::of_process(), jobs, session.ui)?;
        if let Some(path) = write_compile_commands(&session.root, &plan)? {
            session.ui.detail(&format!("{} is for clangd and IDEs", path.display()));
        }
        Ok(outcomes)
    }

    fn workspace(&self, session: &Session, selected: Selected) -> anyhow::Result<Workspace> {
        if self.from.is_some() && self.host != Host::THIS {
            let what = format!("--from builds programs for {}, not for {}", Host::THIS, self.host);
            return Err(Usage::new(what, "leave --host out, or build on such a machine").into());
        }
        Ok(match &self.from {
            Some(folder) if folder.is_dir() => load_project(&std::path::absolute(folder)?, None)?,
            Some(name) => source_project(session, selected, &name.to_string_lossy())?,
            None => load_workspace(&session.root)?,
        })
    }

    fn launcher(&self) -> Result<Launcher, MissingPrerequisite> {
        Ok(match self.launcher {
            Some(cache) => Launcher::Cache(cache.find()?),
            None if self.no_sharing => Launcher::None,
            None => Launcher::Sharing,
        })
    }

    /// These components for these targets, with no settings beside.
    pub(super) fn only(targets: &str, components: &[String]) -> Self {
        Self { targets: targets.to_owned(), components: components.to_vec(), ..Self::default() }
    }

    pub(super) fn request<'r>(
        &self,
        session: &Session,
        lock: &Lock,
        selected: Selected,
        workspace: &'r Workspace,
        installed: &'r Installed,
        is_offline: bool,
    ) -> anyhow::Result<Request<'r>> {
        let components = workspace.choose(&self.components)?;
        let needs_rust = components.iter().any(|component| component.has_rust());
        Ok(Request {
            workspace,
            components,
            targets: session.targets(&self.targets, selected)?,
            toolchain: installed,
            tools: tools(installed)?,
            host: self.host,
            lock: lock.digest,
            rust: needs_rust.then(|| Rust::find(self.host, is_offline)).transpose()?,
            artifacts: session.root.join("artifacts"),
            work: session.root.join("target").join("xtask"),
            launcher: self.launcher()?,
            developer: session.developer_environment(selected, installed)?,
        })
    }
}

/// The project of a source package that is in the store.
fn source_project(session: &Session, selected: Selected, name: &str) -> anyhow::Result<Workspace> {
    let sources = || selected.packages().filter(|package| package.host.is_none());
    let toolchain = selected.toolchain.name.clone();
    let Some(package) = sources().find(|package| package.name == name) else {
        let known: Vec<String> = sources().map(|package| package.name.clone()).collect();
        let nearest = gfx::nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        return Err(build::Error::NoSource { name: name.to_owned(), toolchain, known, nearest }.into());
    };
    let tree = session.store.load(package, &toolchain)?.tree;
    let described = session.root.join("projects").join(format!("{name}.toml"));
    Ok(load_project(&source_root(&tree), Some(&described))?)
}

/// CMake and Ninja of the toolchain, else of the machine when they are new enough.
fn tools(installed: &Installed) -> Result<Tools, MissingPrerequisite> {
    let pinned = |part: Part| {
        let package = installed.packages.iter().find(|p| p.receipt.parts.contains_key(&part))?;
        Some((installed.parts.get(&part)?.clone(), package.receipt.version.clone()))
    };
    let find = |part: Part, minimum: [u32; 2]| -> Result<(PathBuf, String), MissingPrerequisite> {
        if let Some(found) = pinned(part) {
            return Ok(found);
        }
        let (name, [major, minor]) = (part.name(), minimum);
        let missing = |what: String| MissingPrerequisite {
            what,
            mend: format!(
                "add a package that provides `{name}` to the toolchain in toolchains.lock, or install {name}"
            ),
        };
        match find_program(name, minimum) {
            Some(program) if program.is_new_enough => {
                Ok((program.path, format!("{} (PATH)", program.version)))
            }
            Some(program) => Err(missing(format!(
                "{name} {} at `{}` is too old: {major}.{minor} or later is needed",
                program.version,
                program.path.display()
            ))),
            None => {
                Err(missing(format!("{name} {major}.{minor} or later is needed and none is on the PATH")))
            }
        }
    };
    let (cmake, cmake_version) = find(Part::Cmake, MINIMUM_CMAKE)?;
    let (ninja, ninja_version) = find(Part::Ninja, MINIMUM_NINJA)?;
    Ok(Tools { cmake, ninja, versions: format!("cmake {cmake_version}, ninja {ninja_version}") })
}

fn preview(session: &Session, request: &Request, plan: &BuildPlan) -> anyhow::Result<()> {
    let artifacts = Artifacts::at(request.artifacts.clone());
    let mut lines = Vec::new();
    let mut steps = Vec::new();
    for step in &plan.steps {
        let reason = match artifacts.reuse(step) {
            Reuse::Current => None,
            Reuse::Rebuild(reason) => Some(reason),
        };
        let verdict = reason.clone().map_or("current".to_owned(), |reason| format!("build ({reason})"));
        lines.push(format!("{:<16} {:<14} {verdict}", step.component.name, step.target));
        steps.push(json!({
            "component": step.component.name,
            "target": step.target.to_string(),
            "key": step.inputs.key(),
            "reason": reason,
        }));
    }
    session.ui.data(&lines.join("\n"), &json!({"steps": steps}));
    Ok(())
}
