//! Child environments, built from nothing: what is not on a list does not reach a compiler.

use crate::lock::{Host, Part};
use crate::store::Installed;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Variables by name, sorted.
pub(crate) type Variables = BTreeMap<String, String>;

/// The environment that xtask itself was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parent(pub(crate) Variables);

impl Parent {
    /// This process's; what is not text is left out.
    pub(crate) fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(text).collect())
    }

    /// Windows spells `Path`, `PATH` and `path` as it likes.
    fn get(&self, name: &str, host: Host) -> Option<&String> {
        match host {
            Host::Linux => self.0.get(name),
            _ => self.0.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value),
        }
    }
}

/// What programs need to run at all, on either system: folders for temporary files, the user's home, the system's own folders.
const UNIX: [&str; 2] = ["HOME", "TMPDIR"];
const WINDOWS: [&str; 14] = [
    "SystemRoot",
    "SystemDrive",
    "ComSpec",
    "PATHEXT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ProgramFiles",
    "ProgramFiles(x86)",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
];
/// What cargo needs beside: where it and its toolchain live, and how it reaches its registry.
const CARGO: [&str; 17] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CARGO_NET_OFFLINE",
    "CARGO_HTTP_PROXY",
    "CARGO_HTTP_CAINFO",
    "CARGO_HTTP_TIMEOUT",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// Where ccache keeps things, here and with others. Not all that starts with CCACHE_: CCACHE_PREFIX would start another program before the compiler.
const CCACHE: [&str; 3] = ["CCACHE_DIR", "CCACHE_CONFIGPATH", "CCACHE_REMOTE_STORAGE"];
/// The same of sccache, whose settings all say only that.
const SCCACHE: &str = "SCCACHE_";

/// The environment of cmake, ninja and the compiler. `library_folders` are those of a toolchain that was unpacked and not installed.
pub(crate) fn for_tools(parent: &Parent, host: Host, library_folders: &[PathBuf]) -> Variables {
    let mut child = system(parent, host);
    child.insert("PATH".into(), system_path(parent, host));
    if host == Host::Linux && !library_folders.is_empty() {
        child.insert("LD_LIBRARY_PATH".into(), joined(library_folders, ":"));
    }
    child
}

/// The environment of a cargo that builds what is shipped. Its linker is found on the PATH, as for any Rust program.
pub(crate) fn for_cargo(parent: &Parent, host: Host, rust_flags: &[String]) -> Variables {
    let mut child = system(parent, host);
    let keep = CARGO.iter().chain(&["PATH"]);
    child.extend(keep.filter_map(|name| Some((name.to_string(), parent.get(name, host)?.clone()))));
    child.insert("CARGO_ENCODED_RUSTFLAGS".into(), rust_flags.join("\x1f"));
    child
}

/// What ccache and sccache get beside: where they keep things, and the toolchain's digest as part of their key. Both look at the compiler's
/// program alone otherwise, and it does not change with the libraries and headers of its package.
pub(crate) fn for_compiler_cache(parent: &Parent, host: Host, toolchain: crate::digest::Sha256) -> Variables {
    let ccache = CCACHE.iter().filter_map(|name| Some((name.to_string(), parent.get(name, host)?.clone())));
    let sccache = parent.0.iter().filter(|(name, _)| name.to_ascii_uppercase().starts_with(SCCACHE));
    let kept = ccache.chain(sccache.map(|(name, value)| (name.clone(), value.clone())));
    let key = [
        ("CCACHE_COMPILERCHECK".to_owned(), format!("string:{toolchain}")),
        ("SCCACHE_C_CUSTOM_CACHE_BUSTER".to_owned(), toolchain.to_string()),
    ];
    kept.chain(key).collect()
}

/// Puts `folder` before the others of the child's PATH, for a program of the toolchain that the compiler looks for there.
pub(super) fn find_first(child: &mut Variables, folder: &Path, host: Host) {
    let separator = if host == Host::Linux { ":" } else { ";" };
    let path = child.get("PATH").cloned().unwrap_or_default();
    child.insert("PATH".into(), format!("{}{separator}{path}", folder.display()));
}

fn system(parent: &Parent, host: Host) -> Variables {
    let names: &[&str] = if host == Host::Linux { &UNIX } else { &WINDOWS };
    let mut child: Variables =
        names.iter().filter_map(|name| Some((name.to_string(), parent.get(name, host)?.clone()))).collect();
    if host == Host::Linux {
        child.insert("LC_ALL".into(), "C.UTF-8".into());
    }
    // A generator's cache beside its script would be a source that changed during the build.
    child.insert("PYTHONDONTWRITEBYTECODE".into(), "1".into());
    child
}

fn system_path(parent: &Parent, host: Host) -> String {
    match host {
        Host::Linux => "/usr/bin:/bin".into(),
        _ => {
            let root = parent.get("SystemRoot", host).map_or("C:\\Windows", String::as_str);
            format!("{root}\\System32;{root}")
        }
    }
}

fn joined(folders: &[PathBuf], separator: &str) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(separator)
}

/// The library folders that a toolchain's compiler needs to start.
pub(crate) fn toolchain_libraries(toolchain: &Installed) -> Vec<PathBuf> {
    let Some(compiler) = toolchain.parts.get(&Part::Compiler) else { return Vec::new() };
    let trees = toolchain.packages.iter().filter(|p| p.receipt.parts.contains_key(&Part::Compiler));
    trees.flat_map(|package| library_folders(&package.tree, compiler)).collect()
}

/// The library folders of a package tree that follows Debian's layout; none for a dist, whose programs find their own.
fn library_folders(tree: &Path, compiler: &Path) -> Vec<PathBuf> {
    let llvm = compiler.parent().and_then(Path::parent).map(|root| root.join("lib"));
    let debian = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"].map(|folder| tree.join(folder));
    match debian[0].is_dir() {
        true => debian.into_iter().filter(|folder| folder.is_dir()).chain(llvm).collect(),
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parent(variables: &[(&str, &str)]) -> Parent {
        Parent(variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
    }

    const LEAKS: [&str; 14] = [
        "HIP_PATH",
        "HIP_PATH_57",
        "ROCM_PATH",
        "HIP_DEVICE_LIB_PATH",
        "HIPCC_COMPILE_FLAGS_APPEND",
        "CL",
        "_CL_",
        "CPATH",
        "CPLUS_INCLUDE_PATH",
        "LIBRARY_PATH",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "CXXFLAGS",
        "CMAKE_PREFIX_PATH",
    ];

    #[test]
    fn a_compiler_cache_keys_on_the_toolchain() {
        let digest = crate::digest::Sha256::of(b"toolchain");
        let child = for_compiler_cache(
            &parent(&[("CCACHE_DIR", "/c"), ("CCACHE_PREFIX", "distcc")]),
            Host::Linux,
            digest,
        );
        let expected = [
            ("CCACHE_COMPILERCHECK", format!("string:{digest}")),
            ("CCACHE_DIR", "/c".to_owned()),
            ("SCCACHE_C_CUSTOM_CACHE_BUSTER", digest.to_string()),
        ];
        assert_eq!(child, expected.map(|(name, value)| (name.to_owned(), value)).into());
        // What several machines share.
        let parent =
            parent(&[("CCACHE_REMOTE_STORAGE", "redis://r"), ("SCCACHE_BUCKET", "b"), ("CXXFLAGS", "leak")]);
        let child = for_compiler_cache(&parent, Host::Linux, digest);
        assert_eq!(
            (child["CCACHE_REMOTE_STORAGE"].as_str(), child["SCCACHE_BUCKET"].as_str()),
            ("redis://r", "b")
        );
        assert!(!child.contains_key("CXXFLAGS"));
    }

    #[test]
    fn nothing_leaks_into_a_build() {
        let mut variables: Vec<(&str, &str)> = LEAKS.iter().map(|name| (*name, "leak")).collect();
        variables.extend([
            ("RUSTFLAGS", "leak"),
            ("HOME", "/home/x"),
            ("PATH", "/evil"),
            ("SystemRoot", "C:\\W"),
        ]);
        let parent = parent(&variables);
        for host in Host::ALL {
            for child in [for_tools(&parent, host, &[]), for_cargo(&parent, host, &[])] {
                assert!(child.values().all(|value| value != "leak"), "{host}: {child:?}");
            }
            assert!(!for_tools(&parent, host, &[])["PATH"].contains("evil"));
        }
    }

    #[test]
    fn windows_names_are_found_in_any_case() {
        let parent = parent(&[("SYSTEMROOT", "D:\\Win"), ("Path", "D:\\cargo\\bin")]);
        let child = for_tools(&parent, Host::WindowsMsvc, &[]);
        assert_eq!(child["PATH"], "D:\\Win\\System32;D:\\Win");
        assert_eq!(child["SystemRoot"], "D:\\Win");
        assert_eq!(for_cargo(&parent, Host::WindowsGnu, &[])["PATH"], "D:\\cargo\\bin");
    }

    #[test]
    fn an_unpacked_toolchain_finds_its_libraries() {
        let folders = ["/s/usr/lib".into(), "/s/llvm/lib".into()];
        let child = for_tools(&parent(&[("LD_LIBRARY_PATH", "/evil")]), Host::Linux, &folders);
        assert_eq!(child["LD_LIBRARY_PATH"], "/s/usr/lib:/s/llvm/lib");
    }

    #[test]
    fn a_path_of_9000_characters_reaches_cargo_whole_and_no_compiler() {
        let long = "C:\\Program Files (x86)\\a & b;".repeat(320);
        assert!(long.len() > 9_000, "{}", long.len());
        let parent = parent(&[("Path", &long), ("SystemRoot", "C:\\Windows")]);
        assert_eq!(for_cargo(&parent, Host::WindowsMsvc, &[])["PATH"], long);
        assert_eq!(for_tools(&parent, Host::WindowsMsvc, &[])["PATH"], "C:\\Windows\\System32;C:\\Windows");
    }
}
