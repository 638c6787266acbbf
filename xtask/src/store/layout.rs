//! Where the parts of a package lie: found in the list of its files, never assumed (facts/therock.md 3.1).

use crate::lock::{Host, Part};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where the parts lie, relative to the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// For a program its path; for headers, libraries and sources the folder that the compiler is told.
    pub(crate) parts: BTreeMap<Part, String>,
}

/// A tree in which something is missing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("missing from the tree:{}", .missing.iter().map(|(part, paths)| format!("\n  {part}: {}", paths.join(", "))).collect::<String>())]
pub(crate) struct LayoutError {
    /// Part and the patterns that match no file.
    pub(crate) missing: Vec<(&'static str, Vec<String>)>,
}

/// One place where a part can lie. `*` stands for any text within one folder name, `{exe}` for the host's ending of programs.
struct Place {
    /// Prefix of all patterns.
    folder: &'static str,
    /// Every one must match a file.
    files: &'static [&'static str],
    /// The answer, below the folder.
    answer: &'static str,
}

const CLANG: [&str; 4] = [
    "bin/clang++{exe}",
    "bin/clang{exe}",
    "bin/lld{exe}",
    "lib/clang/*/include/__clang_hip_runtime_wrapper.h",
];

const BITCODE: [&str; 3] = ["ocml.bc", "ockl.bc", "oclc_abi_version_*.bc"];

/// The places of each part, most likely first.
fn places(part: Part) -> &'static [Place] {
    match part {
        Part::Compiler => &[
            Place { folder: "lib/llvm/", files: &CLANG, answer: "bin/clang++{exe}" },
            Place { folder: "usr/lib/llvm-*/", files: &CLANG, answer: "bin/clang++{exe}" },
            // AMD's HIP SDK for Windows, up to 7.1.
            Place { folder: "", files: &CLANG, answer: "bin/clang++{exe}" },
        ],
        Part::OffloadBundler => &[Place {
            folder: "usr/lib/llvm-*/",
            files: &["bin/clang-offload-bundler{exe}"],
            answer: "bin/clang-offload-bundler{exe}",
        }],
        Part::Hip => &[
            Place {
                folder: "",
                files: &["include/hip/hip_runtime.h", "include/hip/hip_version.h"],
                answer: "",
            },
            Place { folder: "usr/", files: &["include/hip/hip_runtime.h", "share/hip/version"], answer: "" },
        ],
        Part::DeviceLibs => &[
            Place { folder: "lib/llvm/amdgcn/bitcode/", files: &BITCODE, answer: "" },
            Place { folder: "amdgcn/bitcode/", files: &BITCODE, answer: "" },
        ],
        Part::Cmake => &[
            Place {
                folder: "cmake/data/",
                files: &["bin/cmake{exe}", "share/cmake-*/Modules/CMake.cmake"],
                answer: "bin/cmake{exe}",
            },
            Place {
                folder: "",
                files: &["bin/cmake{exe}", "share/cmake-*/Modules/CMake.cmake"],
                answer: "bin/cmake{exe}",
            },
        ],
        Part::Ninja => &[
            Place { folder: "ninja-*.data/scripts/", files: &["ninja{exe}"], answer: "ninja{exe}" },
            Place { folder: "ninja/data/bin/", files: &["ninja{exe}"], answer: "ninja{exe}" },
            Place { folder: "", files: &["ninja{exe}"], answer: "ninja{exe}" },
        ],
        Part::ComposableKernel => &[
            Place {
                folder: "aiter_meta/3rdparty/composable_kernel/",
                files: &["include/ck_tile/core.hpp", "include/ck_tile/ops/fmha.hpp"],
                answer: "",
            },
            Place {
                folder: "",
                files: &["include/ck_tile/core.hpp", "include/ck_tile/ops/fmha.hpp"],
                answer: "",
            },
        ],
    }
}

/// Finds every part of `wanted` among `paths` (sorted, with `/`): at the root or in the one folder that wraps everything.
pub(super) fn detect(
    paths: &BTreeSet<&str>,
    wanted: &[Part],
    host: Host,
    targets: &[gfx::Target],
) -> Result<Layout, LayoutError> {
    let at_root = detect_below(paths, "", wanted, host, targets);
    match (at_root, wrapper(paths)) {
        (Err(error), Some(folder)) => detect_below(paths, &folder, wanted, host, targets).map_err(|_| error),
        (result, _) => result,
    }
}

/// The same for a folder of the machine, of which only the places of these parts are looked at: it may be anything, a whole disk too.
pub(crate) fn layout_of(root: &Path, wanted: &[Part], host: Host) -> Result<Layout, LayoutError> {
    let places = wanted.iter().flat_map(|part| places(*part));
    let patterns =
        places.flat_map(|place| place.files.iter().map(move |file| format!("{}{file}", place.folder)));
    let mut found = BTreeSet::new();
    for pattern in patterns {
        let pattern = pattern.replace("{exe}", host.exe_suffix());
        let segments: Vec<&str> = pattern.split('/').collect();
        matching(root, "", &segments, &mut found);
    }
    let paths = found.iter().map(String::as_str).collect();
    detect_below(&paths, "", wanted, host, &[])
}

/// Adds the files below `folder` that match the pattern's segments.
fn matching(folder: &Path, prefix: &str, segments: &[&str], found: &mut BTreeSet<String>) {
    let Some((first, rest)) = segments.split_first() else { return };
    let names: Vec<String> = match first.contains('*') {
        false => vec![(*first).to_owned()],
        true => {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            names.filter(|name| match_segment(first, name)).collect()
        }
    };
    for name in names {
        let path = folder.join(&name);
        match rest.is_empty() {
            true if path.is_file() => drop(found.insert(format!("{prefix}{name}"))),
            true => {}
            false => matching(&path, &format!("{prefix}{name}/"), rest, found),
        }
    }
}

/// The only folder at the top, when nothing lies beside it.
fn wrapper(paths: &BTreeSet<&str>) -> Option<String> {
    let (folder, _) = paths.first()?.split_once('/')?;
    let prefix = format!("{folder}/");
    paths.iter().all(|path| path.starts_with(&prefix)).then_some(prefix)
}

fn detect_below(
    paths: &BTreeSet<&str>,
    root: &str,
    wanted: &[Part],
    host: Host,
    targets: &[gfx::Target],
) -> Result<Layout, LayoutError> {
    let mut parts = BTreeMap::new();
    let mut missing = Vec::new();
    for part in wanted {
        let tried = places(*part).iter().map(|place| try_place(paths, root, place, *part, host, targets));
        // Of all failures the one that was nearest to success tells most.
        let best = tried.reduce(|best, next| match (&best, &next) {
            (Ok(_), _) => best,
            (Err(_), Ok(_)) => next,
            (Err(a), Err(b)) => {
                if b.len() < a.len() {
                    next
                } else {
                    best
                }
            }
        });
        match best.unwrap_or_else(|| Err(Vec::new())) {
            Ok(answer) => drop(parts.insert(*part, answer)),
            Err(patterns) => missing.push((part.name(), patterns)),
        }
    }
    if missing.is_empty() { Ok(Layout { parts }) } else { Err(LayoutError { missing }) }
}

fn try_place(
    paths: &BTreeSet<&str>,
    root: &str,
    place: &Place,
    part: Part,
    host: Host,
    targets: &[gfx::Target],
) -> Result<String, Vec<String>> {
    let with_exe = |text: &str| text.replace("{exe}", host.exe_suffix());
    let mut folder = format!("{root}{}", place.folder);
    let mut missing = Vec::new();
    let per_target = targets.iter().filter(|_| part == Part::DeviceLibs).map(isa_file);
    for file in place.files.iter().map(|file| with_exe(file)).chain(per_target) {
        match paths.iter().find_map(|path| match_prefix(&folder, &file, path)) {
            // The first match settles what a `*` in the folder stands for.
            Some(concrete) => folder = concrete,
            None => missing.push(format!("{folder}{file}")),
        }
    }
    match missing.is_empty() {
        true => Ok(format!("{folder}{}", with_exe(place.answer)).trim_end_matches('/').to_owned()),
        false => Err(missing),
    }
}

/// The bitcode file that holds one target's ISA number.
fn isa_file(target: &gfx::Target) -> String {
    format!("oclc_isa_version_{}.bc", target.name().trim_start_matches("gfx"))
}

/// When `path` matches `folder` + `file`: the part of it that the folder's pattern stands for.
fn match_prefix(folder: &str, file: &str, path: &str) -> Option<String> {
    let pattern: Vec<&str> =
        folder.split('/').take(folder.matches('/').count()).chain(file.split('/')).collect();
    let segments: Vec<&str> = path.split('/').collect();
    let is_match =
        segments.len() == pattern.len() && pattern.iter().zip(&segments).all(|(p, s)| match_segment(p, s));
    let depth = folder.matches('/').count();
    is_match.then(|| segments[..depth].iter().map(|segment| format!("{segment}/")).collect())
}

fn match_segment(pattern: &str, segment: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == segment,
        Some((before, after)) => {
            segment.len() >= before.len() + after.len()
                && segment.starts_with(before)
                && segment.ends_with(after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str) -> gfx::Target {
        gfx::Target::parse(name).expect(name)
    }

    fn find(paths: &[&str], wanted: &[Part], host: Host) -> Result<Vec<(Part, String)>, LayoutError> {
        let paths = paths.iter().copied().collect();
        detect(&paths, wanted, host, &[target("gfx1100")]).map(|layout| layout.parts.into_iter().collect())
    }

    const DIST: [&str; 9] = [
        "bin/hipcc.exe",
        "include/hip/hip_runtime.h",
        "include/hip/hip_version.h",
        "lib/llvm/amdgcn/bitcode/oclc_abi_version_600.bc",
        "lib/llvm/amdgcn/bitcode/ockl.bc",
        "lib/llvm/amdgcn/bitcode/ocml.bc",
        "lib/llvm/amdgcn/bitcode/oclc_isa_version_1100.bc",
        "lib/llvm/bin/clang++.exe",
        "lib/llvm/bin/clang.exe",
    ];
    const REST: [&str; 2] =
        ["lib/llvm/bin/lld.exe", "lib/llvm/lib/clang/23/include/__clang_hip_runtime_wrapper.h"];
    const PARTS: [Part; 3] = [Part::Compiler, Part::Hip, Part::DeviceLibs];

    #[test]
    fn a_dist_is_found_flat_and_in_a_wrapper_of_any_name() {
        let flat: Vec<&str> = DIST.into_iter().chain(REST).collect();
        let expected = |root: &str| {
            vec![
                (Part::Compiler, format!("{root}lib/llvm/bin/clang++.exe")),
                (Part::Hip, root.trim_end_matches('/').to_owned()),
                (Part::DeviceLibs, format!("{root}lib/llvm/amdgcn/bitcode")),
            ]
        };
        assert_eq!(find(&flat, &PARTS, Host::WindowsMsvc), Ok(expected("")));
        let wrapped: Vec<String> = flat.iter().map(|path| format!("therock-7.13.0rc2/{path}")).collect();
        let wrapped: Vec<&str> = wrapped.iter().map(String::as_str).collect();
        assert_eq!(find(&wrapped, &PARTS, Host::WindowsMsvc), Ok(expected("therock-7.13.0rc2/")));
        let mut two = wrapped.clone();
        two.push("other/file");
        assert!(find(&two, &PARTS, Host::WindowsMsvc).is_err(), "two folders at the top are ambiguous");
    }

    #[test]
    fn every_missing_piece_is_listed() {
        let error = find(&DIST, &PARTS, Host::WindowsMsvc).expect_err("no lld, no resource folder");
        insta::assert_snapshot!(error, @r"
        missing from the tree:
          compiler: lib/llvm/bin/lld.exe, lib/llvm/lib/clang/*/include/__clang_hip_runtime_wrapper.h
        ");
        let error = find(&["README"], &[Part::Hip, Part::Ninja], Host::Linux).expect_err("nothing there");
        insta::assert_snapshot!(error, @r"
        missing from the tree:
          hip: include/hip/hip_runtime.h, include/hip/hip_version.h
          ninja: ninja-*.data/scripts/ninja
        ");
    }

    #[test]
    fn device_libs_must_know_every_target() {
        let paths = DIST.into_iter().chain(REST).collect();
        let targets = [target("gfx1100"), target("gfx1201")];
        let error = detect(&paths, &[Part::DeviceLibs], Host::WindowsMsvc, &targets).expect_err("no gfx1201");
        assert_eq!(error.missing[0].1, ["lib/llvm/amdgcn/bitcode/oclc_isa_version_1201.bc"]);
    }

    #[test]
    fn debian_and_wheel_places() {
        let debian = [
            "usr/include/hip/hip_runtime.h",
            "usr/lib/llvm-22/bin/clang",
            "usr/lib/llvm-22/bin/clang++",
            "usr/lib/llvm-22/bin/lld",
            "usr/lib/llvm-22/lib/clang/22/include/__clang_hip_runtime_wrapper.h",
            "usr/share/hip/version",
        ];
        assert_eq!(
            find(&debian, &[Part::Compiler, Part::Hip], Host::Linux),
            Ok(vec![(Part::Compiler, "usr/lib/llvm-22/bin/clang++".into()), (Part::Hip, "usr".into())])
        );
        let wheel = ["ninja-1.13.2.data/scripts/ninja", "ninja/__init__.py"];
        assert_eq!(
            find(&wheel, &[Part::Ninja], Host::Linux),
            Ok(vec![(Part::Ninja, "ninja-1.13.2.data/scripts/ninja".into())])
        );
    }
}
