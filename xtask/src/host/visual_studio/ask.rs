//! The edge: asks vswhere, the installer's records, the environment, the registry and the usual folders; runs the script.

use super::vcvars::{NO_TELEMETRY, Variables};
use super::{ClangHeaders, DeveloperEnvironment, Error, Survey, environment, instance, record, windows_sdk};
use crate::host::process::output_within;
use crate::host::{folder_of_variable, windows_value};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// vswhere takes well below a second, the script a few.
const LIMIT: Duration = Duration::from_secs(60);

/// Where is looked, and what is taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    /// `Program Files (x86)`, `Program Files`.
    pub(super) program_files: Vec<PathBuf>,
    /// Folders in which the installer keeps its records, `_Instances`.
    pub(super) records: Vec<PathBuf>,
    /// VSINSTALLDIR, which a prompt of Visual Studio sets.
    pub(super) prompt: Option<PathBuf>,
    /// Where the Windows SDK was installed to.
    pub(super) kits: Option<PathBuf>,
    /// STRATA_VS_PREVIEW=1
    pub(super) allow_previews: bool,
    /// What the processor is, whatever an emulated program is told.
    pub(super) is_arm64: bool,
}

impl Places {
    fn of_machine() -> Self {
        let kits = r"SOFTWARE\WOW6432Node\Microsoft\Windows Kits\Installed Roots";
        let system = r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment";
        let setup =
            [r"SOFTWARE\Microsoft\VisualStudio\Setup", r"SOFTWARE\WOW6432Node\Microsoft\VisualStudio\Setup"];
        // Only where somebody moved the packages; else they lie in the usual place.
        let moved = setup.into_iter().filter_map(|key| windows_value(key, "CachePath").map(PathBuf::from));
        let usual =
            folder_of_variable("ProgramData").map(|path| path.join("Microsoft/VisualStudio/Packages"));
        let processor = windows_value(system, "PROCESSOR_ARCHITECTURE");
        Self {
            program_files: ["ProgramFiles(x86)", "ProgramFiles"]
                .into_iter()
                .filter_map(folder_of_variable)
                .collect(),
            records: moved.chain(usual).map(|packages| packages.join("_Instances")).collect(),
            prompt: folder_of_variable("VSINSTALLDIR"),
            kits: windows_value(kits, "KitsRoot10").map(PathBuf::from),
            allow_previews: std::env::var_os("STRATA_VS_PREVIEW").is_some_and(|value| value == "1"),
            is_arm64: processor.is_some_and(|name| name.eq_ignore_ascii_case("ARM64")),
        }
    }
}

/// Every Visual Studio and Windows SDK of this machine, judged for the clang that will compile.
pub(crate) fn survey(clang: ClangHeaders) -> Survey {
    look(&Places::of_machine(), clang)
}

pub(super) fn look(places: &Places, clang: ClangHeaders) -> Survey {
    let mut looked = Vec::new();
    let mut instances = Vec::new();
    for place in &places.program_files {
        let program = place.join("Microsoft Visual Studio/Installer/vswhere.exe");
        looked.push(format!("`{}`", program.display()));
        if program.is_file() {
            match vswhere(&program) {
                Ok(listed) => instances.extend(listed),
                Err(error) => looked.push(format!("which does not answer: {error}")),
            }
        }
    }
    looked.extend(places.records.iter().map(|folder| format!("`{}`", folder.display())));
    looked.push("VSINSTALLDIR".to_owned());
    let recorded = places.records.iter().flat_map(|folder| record::recorded(folder));
    let others = recorded.chain(places.prompt.iter().cloned().map(instance::at));
    for other in others.chain(instance::in_folders(&places.program_files)) {
        if !instances.iter().any(|known| is_same(&known.path, &other.path)) {
            instances.push(other);
        }
    }
    let judge = |found| instance::judge(found, clang, places.allow_previews, places.is_arm64);
    let mut kits: Vec<PathBuf> = places.kits.iter().cloned().collect();
    for usual in places.program_files.iter().map(|place| place.join("Windows Kits/10")) {
        if !kits.iter().any(|known| is_same(known, &usual)) {
            kits.push(usual);
        }
    }
    Survey { candidates: instances.into_iter().map(judge).collect(), sdks: windows_sdk::find(&kits), looked }
}

/// The environment of the best of them for a build, whose own environment is `base`.
pub(crate) fn developer_environment(
    survey: &Survey,
    base: &Variables,
    cache: &Path,
) -> Result<DeveloperEnvironment, Error> {
    environment::make(survey, base, cache, run_script, |path| Path::new(path).is_file())
}

fn vswhere(program: &Path) -> std::io::Result<Vec<super::Instance>> {
    let mut command = Command::new(program);
    command.args(["-products", "*", "-prerelease", "-format", "json", "-utf8", "-nologo"]);
    let output = output_within(&mut command, LIMIT)?;
    instance::listed(&String::from_utf8_lossy(&output.stdout)).map_err(std::io::Error::other)
}

fn run_script(folder: &Path, arguments: &str, base: &Variables) -> std::io::Result<Output> {
    let system = base.get("SystemRoot").map_or(r"C:\Windows", String::as_str);
    let mut command = Command::new(Path::new(system).join("System32").join("cmd.exe"));
    // Its telemetry is a program of its own, which would keep our pipes open after the script's end.
    command.current_dir(folder).env_clear().envs(base).env(NO_TELEMETRY, "1");
    #[cfg(windows)]
    {
        // cmd.exe does not split its line as other programs do.
        std::os::windows::process::CommandExt::raw_arg(&mut command, arguments);
    }
    #[cfg(not(windows))]
    command.arg(arguments);
    output_within(&mut command, LIMIT)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let plain = |path: &Path| path.to_string_lossy().replace('\\', "/").trim_end_matches('/').to_lowercase();
    plain(one) == plain(other)
}
