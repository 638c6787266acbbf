//! Versions of the Windows SDK: headers, libraries and tools have to be of one.

use crate::host::version::{folders_by_version, numbers};
use std::path::{Path, PathBuf};

/// One version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WindowsSdk {
    /// `10.0.26100.0`
    pub(crate) version: String,
    /// The kit's folder, e.g. `C:/Program Files (x86)/Windows Kits/10`.
    pub(crate) root: PathBuf,
    /// What of it is not there.
    pub(crate) missing: Vec<String>,
}

/// What a build needs of a version (facts/peers.md, row 45).
const NEEDED: [(&str, &str); 6] = [
    ("Include", "um/Windows.h"),
    ("Include", "ucrt/stdio.h"),
    ("Lib", "um/x64/kernel32.Lib"),
    ("Lib", "ucrt/x64/ucrt.lib"),
    ("bin", "x64/rc.exe"),
    ("bin", "x64/mt.exe"),
];

/// Every version below these kits, the newest first.
pub(super) fn find(roots: &[PathBuf]) -> Vec<WindowsSdk> {
    let mut found: Vec<WindowsSdk> = Vec::new();
    for root in roots {
        for folder in ["Include", "Lib", "bin"] {
            for version in folders_by_version(&root.join(folder)).into_iter().filter(|v| v.starts_with("10."))
            {
                let is_known = found.iter().any(|sdk| sdk.version == version && sdk.root == *root);
                if !is_known {
                    found.push(WindowsSdk { missing: missing(root, &version), version, root: root.clone() });
                }
            }
        }
    }
    found.sort_by_key(|sdk| std::cmp::Reverse(numbers(&sdk.version)));
    found
}

fn missing(root: &Path, version: &str) -> Vec<String> {
    let is_there = |folder: &str, file: &str| {
        let path = root.join(folder).join(version).join(file);
        // Microsoft spells some names in two ways, and only Windows does not mind.
        path.is_file() || path.with_file_name(lower_name(&path)).is_file()
    };
    NEEDED
        .iter()
        .filter(|(folder, file)| !is_there(folder, file))
        .map(|(_, file)| (*file).to_owned())
        .collect()
}

fn lower_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
}
