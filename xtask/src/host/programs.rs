//! Build programs on the PATH: new enough or named as too old.

use super::version::numbers;
use std::path::PathBuf;
use std::process::Command;

/// `LANGUAGE` of a source file and install rules as this project uses them need 3.24 (facts/strata.md 3 asks for the same).
pub(crate) const MINIMUM_CMAKE: [u32; 2] = [3, 24];
/// The dyndep and `-t deps` behaviour that CMake's generator counts on.
pub(crate) const MINIMUM_NINJA: [u32; 2] = [1, 10];

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// Its full path.
    pub(crate) path: PathBuf,
    /// Its version as it prints it, e.g. `3.25.1`.
    pub(crate) version: String,
    /// Whether it is at least what is needed.
    pub(crate) is_new_enough: bool,
}

/// The first `name` on the PATH, with its version.
pub(crate) fn find_program(name: &str, minimum: [u32; 2]) -> Option<Program> {
    let found = on_path(name)?;
    let output = Command::new(&found).arg("--version").output().ok()?;
    let version = version_in(&String::from_utf8_lossy(&output.stdout))?;
    let is_new_enough = numbers(&version) >= minimum.to_vec();
    Some(Program { path: found, version, is_new_enough })
}

/// The first program `name` on the PATH.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).map(|folder| folder.join(&file)).find(|path| path.is_file())
}

/// The first dotted number in what a program prints.
fn version_in(text: &str) -> Option<String> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.map(|word| word.trim_matches('.')).find(|word| word.contains('.')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version_in("cmake version 3.25.1\n\nCMake suite").as_deref(), Some("3.25.1"));
        assert_eq!(version_in("1.13.2.git.kitware.jobserver-pipe-1").as_deref(), Some("1.13.2"));
        assert_eq!(version_in("no number"), None);
        let enough = |version: &str, minimum: [u32; 2]| numbers(version) >= minimum.to_vec();
        assert!(enough("3.24", MINIMUM_CMAKE) && enough("4.0.1", MINIMUM_CMAKE));
        assert!(!enough("3.9.6", MINIMUM_CMAKE) && !enough("1.9", MINIMUM_NINJA));
    }
}
