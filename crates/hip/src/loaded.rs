//! Which of ROCm's libraries this process has loaded, and from where: on Windows a driver's copy can shadow a release's (facts/strata.md 4.3).

use std::path::{Path, PathBuf};

/// How the names of ROCm's libraries begin, behind `lib`.
const NAMES: [&str; 13] = [
    "amd_comgr",
    "amdhip64",
    "amdocl64",
    "hipblas",
    "hipblaslt",
    "hiprtc",
    "hsa-runtime64",
    "hsakmt",
    "rocblas",
    "rocm_kpack",
    "rocprofiler-register",
    "rocroller",
    "rocsolver",
];

/// The paths of ROCm's libraries in this process, sorted.
pub fn loaded_libraries() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = all().into_iter().filter(|path| is_of_rocm(path)).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Whether a file is one of them, by its name: `libamdhip64.so.7`, `amdhip64_7.dll`.
fn is_of_rocm(path: &Path) -> bool {
    NAMES.iter().any(|name| is_named(path, name))
}

/// Whether a file is the HIP runtime, by its name.
pub(crate) fn is_runtime(path: &Path) -> bool {
    is_named(path, "amdhip64")
}

fn is_named(path: &Path, start: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.strip_prefix("lib").unwrap_or(&name);
    let is_library = name.contains(".so") || name.ends_with(".dll");
    is_library && name.strip_prefix(start).is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// Files that are mapped: the sixth column of `/proc/self/maps` (proc(5)).
#[cfg(target_os = "linux")]
fn all() -> Vec<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().filter_map(|line| line.find('/').map(|start| PathBuf::from(&line[start..]))).collect()
}

/// The modules of this process.
#[cfg(windows)]
fn all() -> Vec<PathBuf> {
    use std::os::windows::ffi::OsStringExt;
    use windows_sys::Win32::System::LibraryLoader::GetModuleFileNameW;
    use windows_sys::Win32::System::ProcessStatus::EnumProcessModules;
    use windows_sys::Win32::System::Threading::GetCurrentProcess;
    const MOST: usize = 4096;
    let mut modules = vec![std::ptr::null_mut(); MOST];
    let mut needed = 0_u32;
    let size = (MOST * size_of::<*mut std::ffi::c_void>()) as u32;
    // SAFETY: the array has the size that is given; the handle of this process needs no closing.
    if unsafe { EnumProcessModules(GetCurrentProcess(), modules.as_mut_ptr(), size, &raw mut needed) } == 0 {
        return Vec::new();
    }
    modules.truncate(needed as usize / size_of::<*mut std::ffi::c_void>());
    let path = |module: &*mut std::ffi::c_void| {
        let mut name = vec![0_u16; 32_768];
        // SAFETY: a module of this process, and a buffer whose length is given.
        let written = unsafe { GetModuleFileNameW(*module, name.as_mut_ptr(), name.len() as u32) };
        name.truncate(written as usize);
        PathBuf::from(std::ffi::OsString::from_wide(&name))
    };
    modules.iter().map(path).collect()
}

#[cfg(not(any(target_os = "linux", windows)))]
fn all() -> Vec<PathBuf> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_rocm_are_known_by_name() {
        let table = [
            ("/opt/rocm/lib/libamdhip64.so.7", true),
            ("/opt/rocm/lib/libamdhip64.so.7.1.50", true),
            ("/opt/rocm/lib/libhsa-runtime64.so.1", true),
            ("/opt/rocm/lib/libhipblaslt.so.1", true),
            ("amdhip64_7.dll", true),
            ("AMD_COMGR_3.DLL", true),
            ("/usr/lib/libc.so.6", false),
            ("/usr/lib/libhipblasx.so", false),
            ("/work/amdhip64", false),
        ];
        for (path, expected) in table {
            assert_eq!(is_of_rocm(Path::new(path)), expected, "{path}");
        }
    }
}
