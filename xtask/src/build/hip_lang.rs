//! The package `hip-lang` that CMake's HIP language asks for, where the toolchain has none that can be used.

use super::Error;
use super::component::Kind;
use super::plan::Step;
use crate::files;
use crate::lock::Part;
use crate::store::Installed;

const CONFIG: &str = include_str!("hip_lang.cmake");

/// Writes it for a project's step.
pub(super) fn write(step: &Step, toolchain: &Installed) -> Result<(), Error> {
    let (Kind::Project { .. }, Some(hip)) = (&step.component.kind, toolchain.parts.get(&Part::Hip)) else {
        return Ok(());
    };
    let folder = step.hip_lang.join("cmake/hip-lang");
    files::create_folder(&folder)?;
    // The headers and not ROCm's version decide what the library is called: lite's are older than what it may run with.
    let major = toolchain.rocm.split('.').next().unwrap_or_default();
    let head = format!("set(HIP_ROOT \"{}\")\nset(HIP_MAJOR {major})\n", files::forward_slashes(hip));
    Ok(files::write_whole(&folder.join("hip-lang-config.cmake"), format!("{head}{CONFIG}").as_bytes())?)
}
