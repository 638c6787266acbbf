//! The machine's own SDK as a part of a toolchain: used where it lies, and not pinned.

use super::{Installed, Layout};
use crate::digest::{Hasher, Sha256};
use crate::files::{self, Error, Named};
use crate::lock::Part;
use std::path::{Path, PathBuf};

impl Installed {
    /// This toolchain with the SDK at `root`. Its digest is over what outputs depend on, so another SDK is another input of a build; nobody else
    /// can get the same one by it, which is why such a build is not pinned.
    ///
    /// # Errors
    /// A file of the SDK that cannot be read.
    pub(crate) fn with_sdk(mut self, root: &Path, version: &str, layout: &Layout) -> Result<Self, Error> {
        let mut hasher = Hasher::new();
        hasher.field(&self.digest.to_string());
        hasher.field(version);
        for path in files_of(root, layout)? {
            let (digest, _) = Sha256::of_file(&path).named("read", &path)?;
            hasher.field(&files::forward_slashes(path.strip_prefix(root).unwrap_or(&path)));
            hasher.field(&digest.to_string());
        }
        self.digest = hasher.finish().0;
        self.rocm = version.to_owned();
        self.is_pinned = false;
        // Joined with nothing, the root would end with a slash.
        let place = |path: &str| if path.is_empty() { root.to_owned() } else { root.join(path) };
        let parts = layout.parts.iter().map(|(part, path)| (*part, place(path)));
        self.parts.extend(parts);
        Ok(self)
    }
}

/// The compiler with its shared libraries and headers, the device libraries, the HIP headers; sorted.
fn files_of(root: &Path, layout: &Layout) -> Result<Vec<PathBuf>, Error> {
    let part = |part: Part| layout.parts.get(&part).map(|path| root.join(path));
    let mut found = Vec::new();
    if let Some(clang) = part(Part::Compiler) {
        let bin = clang.parent().unwrap_or(root).to_owned();
        let llvm = bin.parent().unwrap_or(root).to_owned();
        let is_of_compiler = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            ["clang", "lld", "libllvm", "libclang", "llvm-"].iter().any(|start| name.starts_with(start))
        };
        for folder in [bin, llvm.join("lib")] {
            found.extend(children(&folder).into_iter().filter(|path| path.is_file() && is_of_compiler(path)));
        }
        for version in children(&llvm.join("lib/clang")) {
            found.extend(below(&version.join("include"))?);
        }
    }
    if let Some(folder) = part(Part::DeviceLibs) {
        found.extend(below(&folder)?);
    }
    if let Some(folder) = part(Part::Hip) {
        found.extend(below(&folder.join("include/hip"))?);
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn children(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    match folder.is_dir() {
        true => Ok(files::list(folder)?
            .into_iter()
            .map(|path| folder.join(path))
            .filter(|path| path.is_file())
            .collect()),
        false => Ok(Vec::new()),
    }
}
