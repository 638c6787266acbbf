//! The edge: asks vswhere, the environment, the registry and the usual folders; runs the script.

use super::vcvars::Variables;
use super::{ClangHeaders, DeveloperEnvironment, Error, Survey, environment, instance, windows_sdk};
use crate::host::process::output_within;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// vswhere takes well below a second, the script a few.
const LIMIT: Duration = Duration::from_secs(60);

/// Every Visual Studio and Windows SDK of this machine, judged for the clang that will compile.
pub(crate) fn survey(clang: ClangHeaders) -> Survey {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let program_files: Vec<PathBuf> =
        ["ProgramFiles(x86)", "ProgramFiles"].into_iter().filter_map(folder).collect();
    let mut looked = Vec::new();
    let mut instances = Vec::new();
    for place in &program_files {
        let program = place.join("Microsoft Visual Studio/Installer/vswhere.exe");
        looked.push(format!("`{}`", program.display()));
        if program.is_file() {
            match vswhere(&program) {
                Ok(listed) => instances.extend(listed),
                Err(error) => looked.push(format!("vswhere: {error}")),
            }
        }
    }
    // A prompt of Visual Studio says where it is; the folders are left when its installer is gone.
    let others = folder("VSINSTALLDIR").map(instance::at).into_iter();
    looked.push("VSINSTALLDIR".to_owned());
    for other in others.chain(instance::in_folders(&program_files)) {
        if !instances.iter().any(|known| is_same(&known.path, &other.path)) {
            instances.push(other);
        }
    }
    let allow_previews = std::env::var_os("STRATA_VS_PREVIEW").is_some_and(|value| value == "1");
    let is_arm64 = is_arm64();
    let judge = |found| instance::judge(found, clang, allow_previews, is_arm64);
    let mut kits: Vec<PathBuf> = kits_root().into_iter().collect();
    for place in &program_files {
        let usual = place.join("Windows Kits/10");
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
    command.current_dir(folder).env_clear().envs(base);
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

/// Where the Windows SDK was installed to.
fn kits_root() -> Option<PathBuf> {
    crate::host::windows_value(r"SOFTWARE\WOW6432Node\Microsoft\Windows Kits\Installed Roots", "KitsRoot10")
        .map(PathBuf::from)
}

/// The system's own word: an emulated program is told that it runs on AMD64.
fn is_arm64() -> bool {
    let key = r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment";
    crate::host::windows_value(key, "PROCESSOR_ARCHITECTURE")
        .is_some_and(|value| value.eq_ignore_ascii_case("ARM64"))
}
