//! A CMake project that compiles C, C++ and HIP the ordinary way, described by a `component.toml` beside its CMakeLists.txt: `build --from DIR`, or
//! `build --from NAME` of a source package, which the workspace may describe.

use super::Error;
use super::component::{Component, Kind, Workspace};
use crate::files;
use crate::lock::Part;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The file's name.
pub(crate) const PROJECT_FILE: &str = "component.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    version: String,
    #[serde(default = "here")]
    cmake: String,
    #[serde(default)]
    settings: BTreeMap<String, String>,
    #[serde(default)]
    sources: Vec<Part>,
}

fn here() -> String {
    ".".into()
}

/// Reads the project in `folder` as a workspace of one component. `elsewhere` describes it where it does not do so itself.
pub(crate) fn load_project(folder: &Path, elsewhere: Option<&Path>) -> Result<Workspace, Error> {
    let own = folder.join(PROJECT_FILE);
    let Some(path) = [Some(own.as_path()), elsewhere].into_iter().flatten().find(|path| path.is_file())
    else {
        return Err(Error::NoProject { folder: folder.to_owned(), elsewhere: elsewhere.map(Path::to_owned) });
    };
    let wrong = |reason: String| Error::Project { file: path.to_owned(), reason };
    let raw: Raw = toml::from_str(&files::read_text(path)?)
        .map_err(|error| wrong(error.to_string().trim().to_owned()))?;
    // Both become folders of `artifacts`.
    for (key, value) in [("name", &raw.name), ("version", &raw.version)] {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        if value.is_empty() || value.starts_with('.') || !value.chars().all(is_plain) {
            return Err(wrong(format!("{key} = \"{value}\" must be letters, digits and `-_.+`")));
        }
    }
    let native = if raw.cmake == here() { folder.to_owned() } else { folder.join(&raw.cmake) };
    if !native.join("CMakeLists.txt").is_file() {
        return Err(wrong(format!("cmake = \"{}\" has no CMakeLists.txt", raw.cmake)));
    }
    let component = Component {
        name: raw.name,
        version: raw.version.clone(),
        native,
        kind: Kind::Project { settings: raw.settings },
        sources: raw.sources,
        binaries: Vec::new(),
        library: None,
        share: Vec::new(),
        kernels: Vec::new(),
        runtime: Vec::new(),
        optional: Vec::new(),
        catalogue: None,
        crates: Vec::new(),
    };
    Ok(Workspace { root: folder.to_owned(), version: raw.version, components: vec![component] })
}

/// The project of a source package: its tree, below the folders that wrap everything.
pub(crate) fn source_root(tree: &Path) -> PathBuf {
    let mut root = tree.to_owned();
    loop {
        let entries: Vec<PathBuf> =
            std::fs::read_dir(&root).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        match entries.as_slice() {
            [only] if only.is_dir() => root.clone_from(only),
            _ => return root,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let folder = tempfile::tempdir().expect("temp");
        std::fs::write(folder.path().join("CMakeLists.txt"), "").expect("write");
        std::fs::write(folder.path().join(PROJECT_FILE), text).expect("write");
        let error = load_project(folder.path(), None).expect_err("refused").to_string();
        error.replace(&folder.path().display().to_string(), "[DIR]")
    }

    #[test]
    fn what_is_wrong_with_a_project_is_said() {
        insta::assert_snapshot!(refusal("name = \"a/b\"\nversion = \"1\"\n"), @r#"`[DIR]/component.toml`: name = "a/b" must be letters, digits and `-_.+`"#);
        insta::assert_snapshot!(refusal("name = \"a\"\nversion = \"..\"\n"), @r#"`[DIR]/component.toml`: version = ".." must be letters, digits and `-_.+`"#);
        insta::assert_snapshot!(refusal("name = \"a\"\nversion = \"1\"\ncmake = \"sub\"\n"), @r#"`[DIR]/component.toml`: cmake = "sub" has no CMakeLists.txt"#);
        insta::assert_snapshot!(refusal("name = \"a\"\nversion = \"1\"\nkernel = []\n"), @r"
        `[DIR]/component.toml`: TOML parse error at line 3, column 1
          |
        3 | kernel = []
          | ^^^^^^
        unknown field `kernel`, expected one of `name`, `version`, `cmake`, `settings`, `sources`
        ");
    }
}
