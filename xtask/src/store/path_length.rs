//! How deep a store may lie: what Windows and ROCm's own libraries cannot open is refused before it is there.

use crate::lock::Host;
use std::path::Path;

/// Windows' MAX_PATH without its final NUL. xtask itself gets further; clang, lld, CMake and the loader do not.
pub(crate) const WINDOWS: usize = 259;
const WHOSE_WINDOWS: &str = "MAX_PATH of Windows";
/// rocBLAS crashes when the folder of its kernel files has a longer path: a fixed buffer in Tensile (lemonade#3473).
const ROCBLAS: usize = 174;

/// A file whose path would be too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` has {length} characters, {limit} are possible ({why})")]
pub(crate) struct TooLong {
    /// As it would be, or its tail when the lock tells only the length.
    pub(crate) path: String,
    /// In UTF-16 units, as Windows counts.
    pub(crate) length: usize,
    /// The most that works.
    pub(crate) limit: usize,
    /// Whose limit it is.
    pub(crate) why: &'static str,
    /// How many characters the store's folder has to lose.
    pub(crate) excess: usize,
}

/// Refuses the first of `paths` (relative to `tree`) that programs for `host` could not open.
pub(super) fn check<'a>(
    tree: &Path,
    mut paths: impl Iterator<Item = &'a str>,
    host: Host,
) -> Result<(), TooLong> {
    if host == Host::Linux {
        return Ok(());
    }
    let root = units(&tree.to_string_lossy()) + 1;
    paths.try_for_each(|path| {
        let shown = || format!("{}/{path}", tree.display());
        within(WINDOWS, WHOSE_WINDOWS, root + units(path), shown)?;
        match path.rsplit_once('/') {
            Some((folder, _)) if folder.ends_with("rocblas/library") => {
                within(ROCBLAS, "rocBLAS, lemonade#3473", root + units(folder), shown)
            }
            _ => Ok(()),
        }
    })
}

/// The same before anything is downloaded, from the length of the longest path that the lock tells.
pub(super) fn check_longest(tree: &Path, longest: u64, host: Host) -> Result<(), TooLong> {
    if host == Host::Linux {
        return Ok(());
    }
    let length = length_of(tree, longest);
    within(WINDOWS, WHOSE_WINDOWS, length, || format!("{}/… ({longest} more)", tree.display()))
}

/// Of a path of `longest` characters in `tree`, as Windows counts.
pub(super) fn length_of(tree: &Path, longest: u64) -> usize {
    units(&tree.to_string_lossy()) + 1 + usize::try_from(longest).unwrap_or(WINDOWS)
}

fn within(limit: usize, why: &'static str, length: usize, path: impl Fn() -> String) -> Result<(), TooLong> {
    match length > limit {
        true => Err(TooLong { path: path(), length, limit, why, excess: length - limit }),
        false => Ok(()),
    }
}

/// The longest of `paths`, as Windows counts.
pub(crate) fn longest<'a>(paths: impl Iterator<Item = &'a str>) -> u64 {
    paths.map(units).max().unwrap_or(0) as u64
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(length: usize) -> std::path::PathBuf {
        format!("C:/{}", "s".repeat(length - 3)).into()
    }

    fn limit(root_length: usize, path: &str, host: Host) -> Option<(usize, usize)> {
        check(&root(root_length), std::iter::once(path), host).err().map(|error| (error.limit, error.excess))
    }

    #[test]
    fn windows_opens_259_characters() {
        let file = "f".repeat(59);
        assert_eq!(limit(199, &file, Host::WindowsMsvc), None);
        assert_eq!(limit(200, &file, Host::WindowsGnu), Some((259, 1)));
        assert_eq!(limit(200, &file, Host::Linux), None);
        assert_eq!(
            limit(199, &format!("{}ä", "f".repeat(58)), Host::WindowsMsvc),
            None,
            "characters, not bytes"
        );
        assert!(check_longest(&root(199), 59, Host::WindowsMsvc).is_ok());
        assert!(check_longest(&root(200), 59, Host::WindowsMsvc).is_err());
    }

    #[test]
    fn rocblas_opens_174_characters_of_folder() {
        let file = "bin/rocblas/library/TensileLibrary_gfx1201.co";
        let folder = "/bin/rocblas/library".len();
        assert_eq!(limit(174 - folder, file, Host::WindowsMsvc), None);
        assert_eq!(limit(175 - folder, file, Host::WindowsMsvc), Some((174, 1)));
        assert_eq!(limit(175 - folder, "bin/rocblas/other/file", Host::WindowsMsvc), None);
    }
}
