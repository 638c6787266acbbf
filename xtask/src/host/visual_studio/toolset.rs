//! Versions of Microsoft's compiler and C++ library within one installation.

use super::Refusal;
use crate::host::version::{folders_by_version, numbers};
use std::path::{Path, PathBuf};

/// Older ones do not link with the dist's libraries (TheRock#711, #736; facts/strata.md 5, row 46).
pub(super) const MINIMUM: [u32; 2] = [14, 42];
/// Since this one `<cmath>` has constexpr comparisons, on which clang's headers of before llvm-project#201563 stumble (ROCm/llvm-project#2669).
const CONSTEXPR_CMATH: [u32; 2] = [14, 51];

/// What the clang that will compile makes of a `<cmath>` with constexpr comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ClangHeaders {
    /// It declares its own first, as llvm-project#201563 does.
    Fixed,
    /// It declares its own afterwards, which is an error then.
    Old,
    /// No clang is there yet.
    #[default]
    Unknown,
}

impl ClangHeaders {
    /// Looks into the resource folder of the clang at this path.
    pub(crate) fn of_compiler(clang: &Path) -> Self {
        let resources = clang.parent().and_then(Path::parent).map(|root| root.join("lib/clang"));
        let wrapper = resources.and_then(|folder| {
            let version = folders_by_version(&folder).into_iter().next()?;
            let file = folder.join(version).join("include/__clang_hip_runtime_wrapper.h");
            std::fs::read_to_string(file).ok()
        });
        wrapper.map_or(Self::Unknown, |text| Self::of_wrapper(&text))
    }

    /// By the order of two includes in `__clang_hip_runtime_wrapper.h`.
    pub(super) fn of_wrapper(text: &str) -> Self {
        let line = |header: &str| {
            let is_include = |line: &str| {
                let mut words = line.trim().trim_start_matches('#').split_whitespace();
                line.trim().starts_with('#')
                    && words.next() == Some("include")
                    && words.next() == Some(header)
            };
            text.lines().position(is_include)
        };
        match (line("<__clang_cuda_math_forward_declares.h>"), line("<cmath>")) {
            (Some(own), Some(library)) if own > library => Self::Old,
            (Some(_), _) => Self::Fixed,
            (None, _) => Self::Unknown,
        }
    }
}

/// A toolset that is good enough, and the script that sets it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toolset {
    /// `14.44.35207`
    pub(crate) version: String,
    /// `…/VC/Auxiliary/Build/vcvars64.bat`, or the one for ARM64 machines.
    pub(crate) script: PathBuf,
    /// `…/VC/Redist/MSVC/<version>`, whose DLLs may be shipped, if it is installed; the newest, which serves every older toolset.
    pub(crate) redist: Option<PathBuf>,
}

/// The default toolset of the installation if it will do, else the newest that will.
pub(super) fn choose(root: &Path, clang: ClangHeaders, is_arm64: bool) -> Result<Toolset, Refusal> {
    let build = root.join("VC/Auxiliary/Build");
    let tools = root.join("VC/Tools/MSVC");
    // An ARM64 machine runs the x64 compilers too, only slower.
    let native = [("HostARM64", "vcvarsarm64_amd64.bat"), ("Hostarm64", "vcvarsarm64_amd64.bat")];
    let emulated = [("Hostx64", "vcvars64.bat"), ("HostX64", "vcvars64.bat")];
    let kinds = native.into_iter().filter(|_| is_arm64).chain(emulated);
    let script = |version: &str| {
        let has = |path: &str| tools.join(version).join(path).is_file();
        let is_whole = has("include/vector") && has("lib/x64/msvcrt.lib");
        let mut kinds = kinds.clone().filter(|(folder, _)| has(&format!("bin/{folder}/x64/cl.exe")));
        let script = kinds.find(|(_, script)| build.join(script).is_file())?.1;
        is_whole.then(|| build.join(script))
    };
    let mut whole: Vec<(String, PathBuf)> = folders_by_version(&tools)
        .into_iter()
        .filter_map(|version| Some((version.clone(), script(&version)?)))
        .collect();
    let preferred = std::fs::read_to_string(build.join("Microsoft.VCToolsVersion.default.txt")).ok();
    // The rest stays in its order: the newest first.
    whole.sort_by_key(|(version, _)| Some(version.as_str()) != preferred.as_deref().map(str::trim));
    let is_new = |version: &str| numbers(version) >= MINIMUM.to_vec();
    let is_too_new =
        |version: &str| clang == ClangHeaders::Old && numbers(version) >= CONSTEXPR_CMATH.to_vec();
    if let Some((version, script)) = whole.iter().find(|(version, _)| is_new(version) && !is_too_new(version))
    {
        return Ok(Toolset { version: version.clone(), script: script.clone(), redist: redist(root) });
    }
    let newest = whole.into_iter().map(|(version, _)| version).max_by_key(|version| numbers(version));
    Err(match newest {
        None => Refusal::NoCxx,
        Some(version) if is_new(&version) => Refusal::ConstexprCmath { version },
        Some(version) => Refusal::Old { version },
    })
}

fn redist(root: &Path) -> Option<PathBuf> {
    let folder = root.join("VC/Redist/MSVC");
    let has_runtime = |path: &PathBuf| {
        let names = std::fs::read_dir(path.join("x64"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name());
        names.into_iter().any(|name| {
            let name = name.to_string_lossy();
            name.starts_with("Microsoft.VC") && name.ends_with(".CRT")
        })
    };
    folders_by_version(&folder).into_iter().map(|version| folder.join(version)).find(has_runtime)
}
