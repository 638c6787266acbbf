//! `NOTICE.txt`: each library that is not ours, with its origin and its licence.

use crate::dist::Parts;
use crate::dist::member::{Member, Origin};
use std::fmt::Write;

/// The licence of each library of ROCm by how its file's name starts, without `lib`, and the component whose text in `licenses/` is meant. facts/strata.md
/// 4.2; the HIP runtime and rocm_kpack come without a text of their own.
const ROCM_LICENCES: [(&str, &str); 12] = [
    ("amdhip64", "MIT (AMD; the dist has no text for it)"),
    ("amd_comgr", "Apache-2.0 WITH LLVM-exception, with parts under NCSA"),
    ("rocm_kpack", "MIT (AMD; the dist has no text for it)"),
    ("hiprtc", "MIT (AMD; the dist has no text for it)"),
    ("hsa-runtime64", "NCSA"),
    ("hipblaslt", "MIT"),
    ("hipblas", "MIT"),
    ("rocblas", "MIT"),
    ("rocsolver", "BSD-2-Clause"),
    ("origami", "MIT"),
    ("tensilelite", "MIT"),
    ("rocm_sysdeps_", "that of the system library of this name, which the dist carries as a copy"),
];

/// The text for the `members` of a release.
pub(crate) fn notice(members: &[Member], parts: &Parts) -> String {
    let mut text = format!(
        "Strata {} for {}\n\nOur own programs and kernels: MIT, see LICENSE. What else is in this release:\n",
        parts.version, parts.host
    );
    let libraries = members.iter().filter(|member| is_library(&member.path));
    for member in libraries {
        let licence = match &member.origin {
            Origin::Component(_) | Origin::Release => continue,
            Origin::Redistributable => {
                "Microsoft Visual C++ redistributable, passed on under the terms of Visual Studio (REDIST list)".to_owned()
            }
            Origin::Package(package, _) => rocm_licence(&member.path).map_or_else(|| package_licence(parts, package), str::to_owned),
        };
        let _ = write!(
            text,
            "\n{}\n  from     {}\n  licence  {licence}\n  sha256   {}\n",
            member.path, member.origin, member.digests.sha256
        );
    }
    let kernels =
        members.iter().filter(|m| matches!(m.origin, Origin::Package(..)) && !is_library(&m.path)).count();
    if kernels > 0 {
        let _ = write!(
            text,
            "\n{kernels} kernel files of the libraries above, under the licences of their libraries.\n"
        );
    }
    let compiled_in: Vec<&str> =
        parts.licences.iter().filter_map(|(path, _)| path.strip_prefix("licenses/")).collect();
    if !compiled_in.is_empty() {
        text.push_str("\nPackages whose code is compiled in or shipped, with their texts in licenses/:\n");
        for path in compiled_in {
            let _ = writeln!(text, "  {path}");
        }
    }
    if !parts.crates.is_empty() {
        text.push_str("\nRust crates that are linked into the programs, with their texts in licenses/rust-crates.txt:\n");
        for own in parts.crates.iter().filter(|own| own.checksum.is_some()) {
            let licence = own.expression().unwrap_or_else(|| "see its source".into());
            let _ = writeln!(text, "  {} {}: {licence}", own.name, own.version);
        }
    }
    text
}

/// A shared library by its name: `x.dll`, `libx.so.7`.
pub(crate) fn is_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    name.ends_with(".dll") || name.ends_with(".so") || name.contains(".so.") && !name.ends_with(".hsaco")
}

fn rocm_licence(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let stem = name.strip_prefix("lib").unwrap_or(&name);
    ROCM_LICENCES.iter().find(|(start, _)| stem.starts_with(start)).map(|(_, licence)| *licence)
}

fn package_licence(parts: &Parts, package: &str) -> String {
    let known = parts.package_licences.iter().find(|(name, _)| name == package);
    known.map_or_else(|| "see licenses/".to_owned(), |(_, license)| license.clone())
}
