//! HIP runtimes in the order in which a program finds them, and the versions that their files tell.

use super::machine::Runtime;
use std::path::{Path, PathBuf};

/// What a program asks for (crates/hip), and the compiler that the runtime loads. Both come from the driver too, which is why System32 hides what lies
/// on the PATH.
#[cfg(windows)]
const NAMES: [&str; 2] = ["amdhip64_7.dll", "amd_comgr.dll"];
#[cfg(not(windows))]
const NAMES: [&str; 2] = ["libamdhip64.so.7", "libamd_comgr.so.3"];

/// Those of this machine, for a program that brings none.
pub(crate) fn runtimes() -> Vec<Runtime> {
    let mut found: Vec<Runtime> = Vec::new();
    for library in NAMES {
        for (found_by, path) in places(library) {
            if path.is_file() && !found.iter().any(|known| known.path == path) {
                found.push(Runtime { library, version: version_of(&path), path, found_by });
            }
        }
    }
    found
}

#[cfg(windows)]
fn places(library: &str) -> Vec<(String, PathBuf)> {
    let root = super::windows_folder();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| ("PATH".to_owned(), folder.join(library)));
    let system = [
        ("System32".to_owned(), root.join("System32").join(library)),
        ("Windows".to_owned(), root.join(library)),
    ];
    system.into_iter().chain(on_path).collect()
}

#[cfg(not(windows))]
fn places(library: &str) -> Vec<(String, PathBuf)> {
    let variable = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let named =
        std::env::split_paths(&variable).map(|folder| ("LD_LIBRARY_PATH".to_owned(), folder.join(library)));
    let mut places: Vec<(String, PathBuf)> = named.collect();
    for program in ["/sbin/ldconfig", "/usr/sbin/ldconfig"] {
        let Ok(output) = std::process::Command::new(program).arg("-p").output() else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        places.extend(in_loader_cache(&text, library).into_iter().map(|path| ("ldconfig".to_owned(), path)));
        break;
    }
    places
}

/// The paths of a library in what `ldconfig -p` prints: `\tlibx.so.7 (libc6,x86-64) => /usr/lib/libx.so.7`.
#[cfg_attr(all(windows, not(test)), expect(dead_code, reason = "Linux's loader"))]
fn in_loader_cache(text: &str, name: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        let (entry, path) = line.split_once(" => ")?;
        let (own, kind) = entry.trim().split_once(' ')?;
        (own == name && kind.contains("x86-64")).then(|| PathBuf::from(path.trim()))
    };
    text.lines().filter_map(path).collect()
}

/// The version of a runtime's file: a DLL's resource, or what a shared library's link leads to.
pub(crate) fn version_of(path: &Path) -> Option<String> {
    match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("dll")) {
        true => version_in_resource(&std::fs::read(path).ok()?),
        false => version_in_name(&std::fs::canonicalize(path).ok()?),
    }
}

/// `libamdhip64.so.7.2.53211` is 7.2.53211; a bare `.so.7` tells nothing.
fn version_in_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let (_, version) = name.split_once(".so.")?;
    version.contains('.').then(|| version.to_owned())
}

/// `dwFileVersion` of a VS_FIXEDFILEINFO, which begins with a signature of its own.
fn version_in_resource(dll: &[u8]) -> Option<String> {
    const SIGNATURE: [u8; 8] = [0xBD, 0x04, 0xEF, 0xFE, 0x00, 0x00, 0x01, 0x00];
    let at = memchr::memmem::find(dll, &SIGNATURE)? + SIGNATURE.len();
    let words: Vec<u16> =
        dll.get(at..at + 8)?.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    Some(format!("{}.{}.{}.{}", words[1], words[0], words[3], words[2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_runtimes() {
        let fixed = [0xBD, 0x04, 0xEF, 0xFE, 0, 0, 1, 0, 15, 0, 7, 0, 0, 0, 0xDD, 0x66, 9, 9];
        let dll = [b"MZ....".as_slice(), &fixed].concat();
        assert_eq!(version_in_resource(&dll).as_deref(), Some("7.15.26333.0"));
        assert_eq!(version_in_resource(&dll[..14]), None, "cut off");
        assert_eq!(version_in_resource(b"MZ"), None);
        assert_eq!(version_in_name(Path::new("/l/libamdhip64.so.7.2.53211")).as_deref(), Some("7.2.53211"));
        assert_eq!(version_in_name(Path::new("/l/libamdhip64.so.7")), None);
    }

    #[test]
    fn the_loaders_cache() {
        let text = "3 libs found in cache\n\tlibamdhip64.so.7 (libc6,x86-64) => /opt/rocm/lib/libamdhip64.so.7\n\tlibamdhip64.so.7 (libc6) => /lib32/libamdhip64.so.7\n\tlibamdhip64.so.70 (libc6,x86-64) => /x\n";
        assert_eq!(
            in_loader_cache(text, "libamdhip64.so.7"),
            [PathBuf::from("/opt/rocm/lib/libamdhip64.so.7")]
        );
    }
}
