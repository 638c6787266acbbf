//! SDKs that this machine has: dists, HIP SDKs, ROCm, each with a verdict. The order is fixed, and the first good one is the system's.

use super::folder_of_variable;
use super::version::folders_by_version;
use crate::lock::{Host, Part, compare_versions};
use crate::store::{Layout, LayoutError, Store, layout_of};
use std::path::{Path, PathBuf};

/// What an SDK has to have to compile kernels.
pub(crate) const PARTS: [Part; 3] = [Part::Compiler, Part::Hip, Part::DeviceLibs];

/// How the origin of what lies in the store begins.
const STORE: &str = "the store, ";

/// What is looked at, as plain data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// STRATA_HIP_ROOT.
    pub(crate) chosen: Option<PathBuf>,
    /// Whole SDKs in the store, by package and version.
    pub(crate) store: Vec<(String, PathBuf)>,
    /// HIP_PATH and ROCM_PATH, as far as they are set.
    pub(crate) environment: Vec<(&'static str, PathBuf)>,
    /// Folders whose subfolders are versions: `Program Files\AMD\ROCm`, or `/opt`, in which `rocm-*` are.
    pub(crate) installed: Vec<PathBuf>,
    /// Folders in which a `therock-dist-*` may have been unpacked: those around the checkout.
    pub(crate) around: Vec<PathBuf>,
    /// What `rocm-sdk path --root` prints.
    pub(crate) pip: Option<PathBuf>,
}

/// One folder that may be an SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// What led to it.
    pub(crate) origin: String,
    /// The folder.
    pub(crate) path: PathBuf,
    /// Where its parts lie, or what is wrong with it.
    pub(crate) verdict: Result<Sdk, Refusal>,
}

impl Candidate {
    /// Whether it is of the store, whose bytes are those of the lock.
    pub(crate) fn is_pinned(&self) -> bool {
        self.origin.starts_with(STORE)
    }
}

/// A good one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sdk {
    /// `.info/version`, or what its folder is called.
    pub(crate) version: String,
    /// Its parts, relative to the folder.
    pub(crate) layout: Layout,
}

/// Why a folder is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// It was removed, or never there.
    #[error("there is no such folder")]
    Absent,
    /// Not a file in it.
    #[error("it is empty")]
    Empty,
    /// Half of it was uninstalled, or it is something else.
    #[error("it lacks {}", pieces(.0))]
    Incomplete(LayoutError),
}

fn pieces(error: &LayoutError) -> String {
    let part = |(part, files): &(&str, Vec<String>)| format!("{part} ({})", files.join(", "));
    error.missing.iter().map(part).collect::<Vec<_>>().join("; ")
}

/// Every candidate, in order; a folder that several places lead to counts once, where it is first.
pub(crate) fn candidates(places: &Places, host: Host) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for (origin, path) in ordered(places) {
        if !found.iter().any(|known| known.path == path) {
            found.push(Candidate { origin, verdict: judge(&path, host), path });
        }
    }
    // What nobody asked for and is empty is no news (TheRock#1258).
    found.retain(|c| c.verdict != Err(Refusal::Empty) || !c.origin.starts_with("folder"));
    found
}

/// Where a hipInfo may lie: the toolchain's own HIP, if there is one, then the good SDKs.
pub(crate) fn hip_roots(own: Option<PathBuf>, candidates: &[Candidate]) -> Vec<PathBuf> {
    let good = candidates.iter().filter(|candidate| candidate.verdict.is_ok()).map(|c| c.path.clone());
    // The toolchain's own may be a candidate of the store too, and one that hangs is asked once.
    let others: Vec<PathBuf> = good.filter(|path| Some(path) != own.as_ref()).collect();
    own.into_iter().chain(others).collect()
}

fn ordered(places: &Places) -> Vec<(String, PathBuf)> {
    let mut paths: Vec<(String, PathBuf)> = Vec::new();
    paths.extend(places.chosen.iter().map(|path| ("STRATA_HIP_ROOT".to_owned(), path.clone())));
    paths.extend(places.store.iter().map(|(package, path)| (format!("{STORE}{package}"), path.clone())));
    paths.extend(places.environment.iter().map(|(name, path)| ((*name).to_owned(), path.clone())));
    for folder in &places.installed {
        let versions = folders_by_version(folder).into_iter().map(|version| folder.join(version));
        let named = with_prefix(folder, "rocm");
        paths.extend(versions.chain(named).map(|path| ("folder of AMD's installer".to_owned(), path)));
    }
    for folder in &places.around {
        let dists = with_prefix(folder, "therock-dist-").into_iter();
        paths.extend(dists.map(|path| ("folder beside the checkout".to_owned(), path)));
    }
    paths.extend(places.pip.iter().map(|path| ("pip's rocm-sdk".to_owned(), path.clone())));
    paths
}

/// The folders in `folder` whose name begins with `prefix`, the highest version first: 7.14 comes before 7.9.
fn with_prefix(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_one = |path: &PathBuf| {
        path.is_dir() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    let mut found: Vec<PathBuf> = entries.filter(is_one).collect();
    // `therock-dist-windows-gfx110X-all-7.14.0`, `rocm-7.2.0`: the version comes last.
    let version = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.rsplit_once('-').map(|(_, version)| version.to_owned()).unwrap_or_default()
    };
    found.sort();
    found.sort_by(|a, b| compare_versions(&version(b), &version(a)));
    found
}

fn judge(path: &Path, host: Host) -> Result<Sdk, Refusal> {
    if !path.is_dir() {
        return Err(Refusal::Absent);
    }
    if !has_a_file(path, 4) {
        return Err(Refusal::Empty);
    }
    let layout = layout_of(path, &PARTS, host).map_err(Refusal::Incomplete)?;
    let info = std::fs::read_to_string(path.join(".info/version")).ok();
    let named = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let version = info.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).or(named);
    Ok(Sdk { version: version.unwrap_or_default(), layout })
}

/// Uninstallers leave folders in folders, without a file.
fn has_a_file(folder: &Path, depth: usize) -> bool {
    let entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.iter().any(|path| path.is_file())
        || depth > 0 && entries.iter().any(|path| has_a_file(path, depth - 1))
}

/// The places of this machine; `root` is the checkout.
pub(crate) fn places(root: &Path, store: &Store) -> Places {
    let environment = ["HIP_PATH", "ROCM_PATH"];
    let installed = match cfg!(windows) {
        true => ["ProgramW6432", "ProgramFiles"]
            .into_iter()
            .filter_map(folder_of_variable)
            .map(|path| path.join("AMD/ROCm"))
            .collect(),
        false => vec![PathBuf::from("/opt")],
    };
    Places {
        chosen: folder_of_variable("STRATA_HIP_ROOT"),
        store: store.with_parts(&PARTS, Part::Hip),
        environment: environment
            .into_iter()
            .filter_map(|name| Some((name, folder_of_variable(name)?)))
            .collect(),
        installed,
        around: root.ancestors().skip(1).take(2).map(Path::to_owned).collect(),
        pip: ask_pip(),
    }
}

/// AMD's wheels bring a program that knows where they are.
fn ask_pip() -> Option<PathBuf> {
    let program = super::programs::on_path("rocm-sdk")?;
    let mut command = std::process::Command::new(program);
    command.args(["path", "--root"]);
    let output = super::process::output_within(&mut command, std::time::Duration::from_secs(20)).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then(|| PathBuf::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 8] = [
        "include/hip/hip_runtime.h",
        "include/hip/hip_version.h",
        "lib/llvm/bin/clang++.exe",
        "lib/llvm/bin/clang.exe",
        "lib/llvm/bin/lld.exe",
        "lib/llvm/lib/clang/23/include/__clang_hip_runtime_wrapper.h",
        "lib/llvm/amdgcn/bitcode/ocml.bc",
        "lib/llvm/amdgcn/bitcode/ockl.bc",
    ];

    struct Disk(tempfile::TempDir);

    impl Disk {
        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn sdk(&self, name: &str, version: &str, without: &str) -> PathBuf {
            let more = ["lib/llvm/amdgcn/bitcode/oclc_abi_version_600.bc"];
            let files =
                FILES.into_iter().chain(more).filter(|file| without.is_empty() || !file.contains(without));
            for file in files {
                let path = self.path(name).join(file);
                std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
                std::fs::write(path, "x").expect("write");
            }
            let info = self.path(name).join(".info");
            std::fs::create_dir_all(&info).expect("folder");
            std::fs::write(info.join("version"), format!("{version}\n")).expect("write");
            self.path(name)
        }

        fn report(&self, places: &Places) -> String {
            let line = |c: Candidate| match c.verdict {
                Ok(sdk) => format!("{}: {} is {}", c.origin, c.path.display(), sdk.version),
                Err(refusal) => format!("{}: {}: {refusal}", c.origin, c.path.display()),
            };
            let lines: Vec<String> = candidates(places, Host::WindowsMsvc).into_iter().map(line).collect();
            lines.join("\n").replace(&self.0.path().display().to_string(), "[DISK]")
        }
    }

    #[test]
    fn every_candidate_is_listed_in_order_with_its_verdict() {
        let disk = Disk(tempfile::tempdir().expect("temp"));
        disk.sdk("AMD/ROCm/6.4", "6.4.2", "");
        disk.sdk("AMD/ROCm/7.1", "7.1.1", "lib/llvm/bin");
        std::fs::create_dir_all(disk.path("AMD/ROCm/10.0/bin/leftover")).expect("folder");
        std::fs::create_dir_all(disk.path("AMD/ROCm/docs")).expect("folder");
        disk.sdk("src/therock-dist-windows-gfx110X-all-7.9.0", "7.9.0", "");
        disk.sdk("src/therock-dist-windows-gfx110X-all-7.14.0", "7.14.0", "");
        disk.sdk("src/therock-dist-windows-gfx120X-all-7.14.0a20260612", "7.14.0", "");
        let places = Places {
            chosen: Some(disk.sdk("chosen", "10.0.0", "hip_version.h")),
            store: vec![("therock-multiarch 10.0.0".to_owned(), disk.sdk("store/0123/tree", "10.0.0", ""))],
            environment: vec![("HIP_PATH", disk.path("space")), ("ROCM_PATH", disk.path("AMD/ROCm/6.4"))],
            installed: vec![disk.path("AMD/ROCm"), disk.path("nowhere")],
            around: vec![disk.path("src"), disk.path("")],
            pip: Some(disk.sdk("venv/_rocm_sdk_devel", "10.1.0", "bitcode")),
        };
        insta::assert_snapshot!(disk.report(&places));
        let nothing = Places { installed: vec![disk.path("nowhere")], ..Places::default() };
        assert_eq!(disk.report(&nothing), "");
    }

    #[test]
    fn each_hip_info_is_asked_once_that_of_the_toolchain_first() {
        let disk = Disk(tempfile::tempdir().expect("temp"));
        let (dist, beside) = (disk.sdk("store/0123/tree", "10.0.0", ""), disk.sdk("beside", "7.1.0", ""));
        let places = Places {
            chosen: Some(beside.clone()),
            store: vec![("dist 10.0.0".to_owned(), dist.clone())],
            environment: vec![("HIP_PATH", disk.path("space"))],
            ..Places::default()
        };
        let found = candidates(&places, Host::WindowsMsvc);
        assert_eq!(hip_roots(Some(dist.clone()), &found), [dist.clone(), beside.clone()]);
        assert_eq!(hip_roots(None, &found), [beside, dist]);
    }

    #[test]
    fn an_older_sdk_has_its_clang_in_bin() {
        let disk = Disk(tempfile::tempdir().expect("temp"));
        let root = disk.sdk("6.2", "6.2.4", "llvm");
        for file in FILES.iter().filter_map(|file| file.strip_prefix("lib/llvm/")) {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
            std::fs::write(path, "x").expect("write");
        }
        std::fs::write(root.join("amdgcn/bitcode/oclc_abi_version_500.bc"), "x").expect("write");
        let sdk = judge(&root, Host::WindowsMsvc).expect("an SDK");
        assert_eq!(sdk.layout.parts[&Part::Compiler], "bin/clang++.exe");
        assert_eq!(sdk.layout.parts[&Part::DeviceLibs], "amdgcn/bitcode");
    }
}
