//! Where the files of a dist go in a release (facts/strata.md 4.2 and 4.3).

use crate::dist::closure::file_name;
use crate::lock::Host;

/// What AMD's driver has in System32 under the same name. Windows looks there before the PATH, so it has to lie beside the program; all of it, since
/// a runtime of one release with the compiler library of another finds no GPU (facts/strata.md 4.3).
fn is_shadowed(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "amdhip64_7.dll"
        || name == "rocm_kpack.dll"
        || (name.starts_with("amd_comgr") && name.ends_with(".dll"))
}

/// Where a library of the dist goes. A library's kernels are found relative to it, so everything keeps its place below `rocm/`.
pub(crate) fn place_of_library(path: &str, host: Host) -> String {
    match host {
        Host::WindowsMsvc | Host::WindowsGnu if is_shadowed(file_name(path)) => file_name(path).to_owned(),
        _ => place_below_rocm(path),
    }
}

/// Where any other file of the dist goes.
pub(crate) fn place_below_rocm(path: &str) -> String {
    format!("rocm/{path}")
}

/// The folder of a dist's libraries and of their kernels: `bin` on Windows, `lib` on Linux (TheRock #571, #3753).
pub(crate) fn library_folder(host: Host) -> &'static str {
    match host {
        Host::Linux => "lib",
        Host::WindowsMsvc | Host::WindowsGnu => "bin",
    }
}
