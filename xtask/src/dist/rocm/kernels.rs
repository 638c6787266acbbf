//! Kernel libraries by target: which files of a dist's kernel folders a release takes. Pure: names in, names out.

use crate::dist::Error;
use crate::dist::closure::file_name;
use gfx::{Family, Target};

/// The kernels of one library of a dist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KernelFolder {
    /// The library as people call it.
    pub(crate) library: &'static str,
    /// How its file's name starts, without `lib`.
    pub(crate) file: &'static str,
    /// Below the folder of libraries, or, beginning with `.`, of the dist.
    pub(crate) folder: &'static str,
    /// Only files whose names start so are the library's.
    pub(crate) prefix: &'static str,
    /// Has kernels for RDNA 2 too (facts/strata.md 2.8: hipBLASLt has none).
    pub(crate) has_rdna2: bool,
}

impl KernelFolder {
    /// facts/strata.md 4.2. rocSOLVER's `.kpack` (27 MB a target) is left out on purpose: rocBLAS imports rocSOLVER, and the engine calls none of it.
    pub(crate) const ALL: [KernelFolder; 3] = [
        KernelFolder {
            library: "rocBLAS",
            file: "rocblas",
            folder: "rocblas/library",
            prefix: "",
            has_rdna2: true,
        },
        KernelFolder {
            library: "hipBLASLt",
            file: "hipblaslt",
            folder: "hipblaslt/library",
            prefix: "",
            has_rdna2: false,
        },
        KernelFolder {
            library: "rocBLAS",
            file: "rocblas",
            folder: ".kpack",
            prefix: "blas_lib_",
            has_rdna2: true,
        },
    ];

    /// Whether `name` is the library's file.
    pub(crate) fn belongs_to(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let stem = name.strip_prefix("lib").unwrap_or(&name);
        stem.strip_prefix(self.file).is_some_and(|rest| rest.starts_with('.'))
    }
}

/// How many files of a kernel folder went where; together they are all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Count {
    /// Files in the release.
    pub(crate) taken: usize,
    /// Files for other targets.
    pub(crate) other_targets: usize,
    /// Files of libraries that are not shipped.
    pub(crate) other_libraries: usize,
}

/// The files of a folder, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sorted {
    /// In the release, in their order.
    pub(crate) taken: Vec<String>,
    /// All of them.
    pub(crate) count: Count,
}

/// Sorts the files `paths` of `folder` for `targets`. A file with no gfx name in its path below the folder is for all.
///
/// # Errors
/// A target that no file is for: a release that says `gfx1201` and cannot multiply there.
pub(crate) fn sort_kernels<'p>(
    kernels: KernelFolder,
    folder: &str,
    paths: impl Iterator<Item = &'p str>,
    targets: &[Target],
) -> Result<Sorted, Error> {
    let mut sorted = Sorted::default();
    let mut present: Vec<String> = Vec::new();
    for path in paths {
        let below = path.strip_prefix(folder).unwrap_or(path);
        if !file_name(path).starts_with(kernels.prefix) {
            sorted.count.other_libraries += 1;
            continue;
        }
        let tags = gfx_names(below);
        let is_wanted =
            tags.is_empty() || tags.iter().any(|tag| targets.iter().any(|target| serves(tag, *target)));
        present.extend(tags);
        match is_wanted {
            true => {
                sorted.taken.push(path.to_owned());
                sorted.count.taken += 1;
            }
            false => sorted.count.other_targets += 1,
        }
    }
    present.sort();
    present.dedup();
    for target in targets.iter().filter(|target| kernels.is_needed(**target)) {
        if !present.iter().any(|tag| tag == target.name()) {
            return Err(Error::Kernels {
                library: kernels.library,
                target: *target,
                folder: folder.to_owned(),
                present,
            });
        }
    }
    Ok(sorted)
}

/// Whether a library is of use on one of `targets`: it has no kernel folder, or there are kernels for one.
pub(crate) fn serves_one(name: &str, targets: &[Target]) -> bool {
    let mut folders = KernelFolder::ALL.into_iter().filter(|kernels| kernels.belongs_to(name)).peekable();
    folders.peek().is_none() || folders.any(|kernels| targets.iter().any(|target| kernels.is_needed(*target)))
}

impl KernelFolder {
    /// A generic target has no libraries of its own.
    fn is_needed(&self, target: Target) -> bool {
        !target.is_generic() && (self.has_rdna2 || target.family() != Family::Rdna2)
    }
}

/// Whether a file with this gfx name is of use on `target`: its own, and its family's generic one.
fn serves(tag: &str, target: Target) -> bool {
    let generic = match target.family() {
        Family::Rdna2 => "gfx10-3-generic",
        Family::Rdna3 | Family::Rdna35 => "gfx11-generic",
        Family::Rdna4 => "gfx12-generic",
    };
    tag == target.name() || tag == generic
}

/// Every gfx name in a path: `gfx` and hex digits, then perhaps `-3` and `-generic`.
fn gfx_names(path: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in path.match_indices("gfx") {
        let digits = path[at + 3..].bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            continue;
        }
        let mut end = at + 3 + digits;
        for suffix in ["-generic", "-3-generic", "-4-generic"] {
            if path[end..].starts_with(suffix) {
                end += suffix.len();
                break;
            }
        }
        names.push(path[at..end].to_owned());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_files_and_folders() {
        for (path, expected) in [
            ("/TensileLibrary_Type_HH_gfx1201.dat", vec!["gfx1201"]),
            ("/Kernels.so-000-gfx90a-xnack+.hsaco", vec!["gfx90a"]),
            ("/gfx1151/TensileLibrary_gfx1151.co", vec!["gfx1151", "gfx1151"]),
            ("/TensileLibrary_gfx12-generic.co", vec!["gfx12-generic"]),
            ("/k_gfx10-3-generic.co", vec!["gfx10-3-generic"]),
            ("/hipblasltExtOpLibrary.dat", vec![]),
            ("/gfx/none", vec![]),
        ] {
            assert_eq!(gfx_names(path), expected, "{path}");
        }
    }

    const PATHS: [&str; 9] = [
        "bin/rocblas/library/TensileLibrary_lazy_gfx1100.dat",
        "bin/rocblas/library/TensileLibrary_lazy_gfx1201.dat",
        "bin/rocblas/library/TensileLibrary_lazy_gfx12-generic.dat",
        "bin/rocblas/library/gfx1151/TensileLibrary_lazy_gfx1151.dat",
        "bin/rocblas/library/gfx1201/deep/Kernels.hsaco",
        "bin/rocblas/library/Common.dat",
        "bin/rocblas/library/Kernels.so-000-gfx1200.hsaco",
        "bin/rocblas/library/Kernels.so-000-gfx1103.hsaco",
        "bin/rocblas/library/Kernels.so-000-gfx110.hsaco",
    ];

    #[test]
    fn each_file_is_taken_or_left_and_all_are_counted() {
        let folder = "bin/rocblas/library";
        let sort =
            |targets: &[Target]| sort_kernels(KernelFolder::ALL[0], folder, PATHS.into_iter(), targets);
        let one = sort(&[Target::Gfx1201]).expect("gfx1201");
        assert_eq!(one.taken, [PATHS[1], PATHS[2], PATHS[4], PATHS[5]]);
        assert_eq!(one.count, Count { taken: 4, other_targets: 5, other_libraries: 0 });
        let two = sort(&[Target::Gfx1100, Target::Gfx1151]).expect("two");
        assert_eq!(two.taken, [PATHS[0], PATHS[3], PATHS[5]]);
        assert_eq!(two.count.taken + two.count.other_targets, PATHS.len());
        // A generic target takes what is for all.
        assert_eq!(sort(&[Target::Gfx12Generic]).expect("generic").taken, [PATHS[2], PATHS[5]]);

        let error = sort(&[Target::Gfx1201, Target::Gfx1101]).expect_err("no gfx1101");
        assert_eq!(
            error.to_string(),
            "rocBLAS has no kernels for gfx1101 in `bin/rocblas/library`, only for gfx110, gfx1100, gfx1103, gfx1151, gfx12-generic, gfx1200, gfx1201"
        );
    }

    #[test]
    fn only_files_of_shipped_libraries_are_taken_from_kpack() {
        let kpack = [
            ".kpack/blas_lib_gfx1201.kpack",
            ".kpack/rocsolver_lib_gfx1201.kpack",
            ".kpack/blas_lib_gfx1100.kpack",
        ];
        let sorted = sort_kernels(KernelFolder::ALL[2], ".kpack", kpack.into_iter(), &[Target::Gfx1201]);
        let sorted = sorted.expect("sorts");
        assert_eq!(sorted.taken, kpack[..1]);
        assert_eq!(sorted.count, Count { taken: 1, other_targets: 1, other_libraries: 1 });
    }

    #[test]
    fn rdna2_needs_no_hipblaslt() {
        let sorted = sort_kernels(
            KernelFolder::ALL[1],
            "lib/hipblaslt/library",
            std::iter::empty(),
            &[Target::Gfx1030],
        );
        assert_eq!(sorted.expect("none is needed"), Sorted::default());
    }

    #[test]
    fn a_library_without_kernels_for_a_release_is_of_no_use_there() {
        use Target::{Gfx12Generic, Gfx1030, Gfx1201};
        for (name, targets, is_of_use) in [
            ("libhipblaslt.so.1", &[Gfx1201][..], true),
            ("libhipblaslt.dll", &[Gfx1030, Gfx1201], true),
            ("libhipblaslt.dll", &[Gfx1030], false),
            ("libhipblaslt.so.1", &[Gfx12Generic], false),
            ("librocblas.so.5", &[Gfx1030], true),
            ("libother.so.1", &[Gfx1030], true),
        ] {
            assert_eq!(serves_one(name, targets), is_of_use, "{name} {targets:?}");
        }
    }

    #[test]
    fn a_library_is_known_by_its_file() {
        let rocblas = KernelFolder::ALL[0];
        for name in ["rocblas.dll", "librocblas.so.5"] {
            assert!(rocblas.belongs_to(name), "{name}");
        }
        for name in ["rocblas_extra.dll", "libhipblaslt.dll", "hiprocblas.dll"] {
            assert!(!rocblas.belongs_to(name), "{name}");
        }
        assert!(KernelFolder::ALL[1].belongs_to("libhipblaslt.dll"));
    }
}
