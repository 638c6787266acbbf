//! Finding the runtime's shared library, and saying where it was found.

use crate::api::Api;
use crate::loaded::{is_runtime, loaded_libraries};
use crate::{Attempt, LoadError};
use libloading::Library;
use std::error::Error;
use std::path::{Path, PathBuf};

/// The newest first. The driver's own library has a version in its name, and so have the dists' (facts/strata.md 5, rows 41 and 45).
#[cfg(windows)]
const NAMES: [&str; 2] = ["amdhip64_7.dll", "amdhip64_6.dll"];
#[cfg(not(windows))]
const NAMES: [&str; 3] = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"];

/// Takes what is loaded already, else tries every name in the system's search order.
pub(crate) fn load_any() -> Result<Api, LoadError> {
    load_runtime(runtimes().into_iter().chain(NAMES.map(PathBuf::from)))
}

/// Tries the paths in turn for a HIP runtime.
pub(crate) fn load_runtime<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Api, LoadError> {
    load_first("the HIP runtime", paths, Api::of)
}

/// Tries the paths in turn; the first that loads is the one, good or not: `of` decides. They are names of AMD's libraries, or paths that the caller chose.
pub(crate) fn load_first<P: AsRef<Path>, T>(
    what: &'static str,
    paths: impl IntoIterator<Item = P>,
    of: impl FnOnce(Library, &Path) -> Result<T, LoadError>,
) -> Result<T, LoadError> {
    let mut attempts = Vec::new();
    for path in paths {
        let path = path.as_ref();
        // SAFETY: loading runs the library's initialisers. What answers to these names, or to the path that the caller chose, is a HIP runtime or
        // hipBLASLt, whose initialisers are meant to run in any process.
        match unsafe { open(path) } {
            Ok(library) => return of(library, path),
            Err(error) => attempts.push(Attempt { library: path.to_owned(), reason: reason(&error, path) }),
        }
    }
    Err(LoadError::NotFound { what, attempts })
}

/// Loads a library.
///
/// # Safety
/// As `Library::new`: its initialisers run.
#[cfg(not(windows))]
unsafe fn open(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the caller's.
    unsafe { Library::new(path) }
}

/// As above; what a library with a whole path imports is looked for beside it too, which Windows does on request alone: hipBLASLt's `origami.dll` lies in its folder
/// and not in the program's. A name is looked for beside the program and in System32, where the driver's is: not in the current folder, and not along the PATH.
#[cfg(windows)]
unsafe fn open(path: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::windows::{
        LOAD_LIBRARY_SEARCH_APPLICATION_DIR, LOAD_LIBRARY_SEARCH_SYSTEM32, LOAD_WITH_ALTERED_SEARCH_PATH,
        Library as Windows,
    };
    let flags = match path.is_absolute() {
        true => LOAD_WITH_ALTERED_SEARCH_PATH,
        false => LOAD_LIBRARY_SEARCH_APPLICATION_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32,
    };
    // SAFETY: the caller's.
    unsafe { Windows::load_with_flags(path, flags) }.map(Library::from)
}

/// The HIP runtimes that are in this process: two of them do not know each other's memory.
pub(crate) fn runtimes() -> Vec<PathBuf> {
    loaded_libraries().into_iter().filter(|path| is_runtime(path)).collect()
}

/// The loader's words, which libloading keeps in the source, without the name that they begin with on Linux.
fn reason(error: &libloading::Error, path: &Path) -> String {
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    text.strip_prefix(&format!("{}: ", path.display())).map_or(text.clone(), str::to_owned)
}

/// Where the library that holds `api` lies on disk.
pub(crate) fn path_of(api: &Api) -> Option<PathBuf> {
    // SAFETY: the address is one of the library's functions.
    unsafe { path_of_address(api.get_device_count as *const std::ffi::c_void) }
}

/// Where the library that holds the function at `address` lies on disk.
///
/// # Safety
/// The address is a function's.
#[cfg(unix)]
pub(crate) unsafe fn path_of_address(address: *const std::ffi::c_void) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the address is one of the library's functions, and `info` is large enough; dladdr fills it when it returns non-zero.
    let name = unsafe {
        if libc::dladdr(address, info.as_mut_ptr()) == 0 {
            return None;
        }
        info.assume_init().dli_fname
    };
    if name.is_null() {
        return None;
    }
    // SAFETY: dladdr's name is a string that lives as long as the library.
    let name = unsafe { std::ffi::CStr::from_ptr(name) };
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes())))
}

/// Where the library that holds the function at `address` lies on disk.
///
/// # Safety
/// The address is a function's.
#[cfg(windows)]
pub(crate) unsafe fn path_of_address(address: *const std::ffi::c_void) -> Option<PathBuf> {
    use std::os::windows::ffi::OsStringExt;
    use windows_sys::Win32::System::LibraryLoader::{
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
        GetModuleFileNameW, GetModuleHandleExW,
    };
    const LONGEST: usize = 32_768;
    let mut module = std::ptr::null_mut();
    let mut name = vec![0_u16; LONGEST];
    // SAFETY: the address is one of the library's functions; with FROM_ADDRESS it is taken as an address and not as a name. `name` has room for
    // the longest path that Windows has, and its length is given.
    let written = unsafe {
        let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
        if GetModuleHandleExW(flags, address.cast::<u16>(), &raw mut module) == 0 {
            return None;
        }
        GetModuleFileNameW(module, name.as_mut_ptr(), LONGEST as u32)
    };
    let name = name.get(..usize::try_from(written).ok()?)?;
    (!name.is_empty()).then(|| PathBuf::from(std::ffi::OsString::from_wide(name)))
}
