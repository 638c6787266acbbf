//! `cargo xtask env`

mod presets;
mod shells;

use super::Session;
use super::build::What;
use crate::build::{self, BuildPlan, Parent, Request, load_workspace, make_plan};
use crate::files;
use crate::lock::Host;
use clap::Args;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// Print the build environment for a shell, an IDE or CMake
///
/// The same compiler, CMake, Ninja and folders that a build uses. Nothing of it is needed for `cargo xtask build`.
#[derive(Debug, Args)]
pub(crate) struct Env {
    /// Who reads it
    #[arg(long = "for", value_enum, default_value_t, value_name = "READER")]
    reader: Reader,
    /// Targets, of which a shell gets the first one: STRATA_TARGET
    #[arg(long, default_value = "gfx1100,gfx1201", value_name = "LIST")]
    targets: String,
    /// Only this component; may be given several times
    #[arg(long = "component", value_name = "NAME")]
    components: Vec<String>,
    /// Write CMakeUserPresets.json into the folder of each CMake project
    #[arg(long)]
    write: bool,
}

/// Who reads the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Reader {
    /// bash, zsh and other shells of their family
    #[cfg_attr(not(windows), default)]
    Bash,
    /// fish
    Fish,
    /// PowerShell
    #[cfg_attr(windows, default)]
    Powershell,
    /// A program: variables and folders of the PATH
    Json,
    /// CMake and IDEs that know its presets
    CmakePresets,
}

/// Variables, and folders that come first on the PATH.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Environment {
    variables: BTreeMap<String, String>,
    path: Vec<String>,
}

impl Env {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let lock = session.lock()?;
        let selected = session.select(&lock)?;
        let installed = session.installed(selected)?;
        let workspace = load_workspace(&session.root)?;
        let what = What::only(&self.targets, &self.components);
        let request = what.request(session, &lock, selected, &workspace, &installed, false)?;
        let plan = make_plan(&request)?;
        if self.reader == Reader::CmakePresets || self.write {
            return self.presets(session, &request, &plan);
        }
        let environment = environment(&request, &plan);
        let value = json!({"variables": environment.variables, "path": environment.path});
        let text = match self.reader {
            Reader::Bash => shells::bash(&environment, Host::THIS),
            Reader::Fish => shells::fish(&environment),
            Reader::Powershell => shells::powershell(&environment, if cfg!(windows) { ";" } else { ":" }),
            Reader::Json | Reader::CmakePresets => format!("{value:#}"),
        };
        session.ui.data(&text, &value);
        Ok(())
    }

    fn presets(&self, session: &Session, request: &Request, plan: &BuildPlan) -> anyhow::Result<()> {
        let environment = environment(request, plan);
        let ide = session.root.join("target").join("ide");
        let mut files = BTreeMap::new();
        for step in &plan.steps {
            let steps = plan.steps.iter().filter(|other| other.component.name == step.component.name);
            let path = step.component.native.join(build::OF_THE_IDE);
            files.entry(path).or_insert_with(|| presets::presets(steps, &environment, &ide));
        }
        let shown: Vec<String> = match self.write {
            true => files.keys().map(|path| path.display().to_string()).collect(),
            false => files.values().map(|value| format!("{value:#}")).collect(),
        };
        if self.write {
            for (path, value) in &files {
                files::write_whole(path, format!("{value:#}\n").as_bytes())?;
            }
        }
        let values: BTreeMap<String, _> =
            files.into_iter().map(|(path, value)| (path.display().to_string(), value)).collect();
        session.ui.data(&shown.join("\n"), &json!({"files": values, "written": self.write}));
        Ok(())
    }
}

fn environment(request: &Request, plan: &BuildPlan) -> Environment {
    let slashes = |path: &Path| files::forward_slashes(path);
    let mut variables = BTreeMap::new();
    let settings = plan.steps.iter().flat_map(|step| &step.settings);
    for setting in settings {
        let name = match setting.name.as_str() {
            "CMAKE_C_COMPILER" => "CC",
            "CMAKE_CXX_COMPILER" => "CXX",
            name if name.starts_with("STRATA_") || name.ends_with("_ROOT") => name,
            _ => continue,
        };
        // The first target of the plan is the shell's.
        variables.entry(name.to_owned()).or_insert_with(|| setting.value.clone());
    }
    // What the `cmake` crate and CMake itself look at.
    variables.insert("CMAKE".into(), slashes(&request.tools.cmake));
    variables.insert("CMAKE_GENERATOR".into(), "Ninja".into());
    let libraries = build::toolchain_libraries(request.toolchain);
    let child = build::tools_environment(&Parent::default(), request.host, &libraries);
    if request.host == Host::Linux {
        variables.extend(child.into_iter().filter(|(name, _)| name == "LD_LIBRARY_PATH"));
    }
    let compiler = variables.get("CXX").map(std::path::PathBuf::from);
    let programs = compiler.iter().chain([&request.tools.cmake, &request.tools.ninja]);
    let mut path: Vec<String> = programs.filter_map(|program| program.parent().map(slashes)).collect();
    path.dedup();
    Environment { variables, path }
}
