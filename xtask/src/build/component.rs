//! Components: the workspace members that say so in `[package.metadata.component]`.

use super::Error;
use crate::lock::Part;
use cargo_metadata::{MetadataCommand, Package};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The workspace, as cargo describes it.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    /// The folder of the root Cargo.toml.
    pub(crate) root: PathBuf,
    /// The version that all members share.
    pub(crate) version: String,
    /// Sorted by name.
    pub(crate) components: Vec<Component>,
}

/// How a component's CMake project is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It compiles kernels to code objects with `cmake/CodeObject.cmake`, and nothing for a host.
    Kernels,
    /// It compiles C, C++ and HIP the ordinary way (see [`super::project`]).
    Project {
        /// CMake's variables that it wants set.
        settings: BTreeMap<String, String>,
    },
}

/// A native component.
#[derive(Debug, Clone)]
pub(crate) struct Component {
    /// The package's name.
    pub(crate) name: String,
    /// The package's version.
    pub(crate) version: String,
    /// The CMake project's folder.
    pub(crate) native: PathBuf,
    /// How it is built.
    pub(crate) kind: Kind,
    /// Rust programs that are shipped.
    pub(crate) binaries: Vec<String>,
    /// The package's shared library, when it is shipped: the name of its lib target.
    pub(crate) library: Option<String>,
    /// Folders that are shipped as they are, each under its own name.
    pub(crate) share: Vec<PathBuf>,
    /// The code objects' names, without `.co`.
    pub(crate) kernels: Vec<String>,
    /// Libraries that the programs load by name at run time: `.dll` names for Windows, sonames for Linux. A release ships them where the toolchain has
    /// them.
    pub(crate) runtime: Vec<String>,
    /// Libraries that they load by name and do without where there is none: a release ships those that the toolchain has.
    pub(crate) optional: Vec<String>,
    /// What is said of its kernels beyond that they are there (see [`super::catalogue`]).
    pub(crate) catalogue: Option<PathBuf>,
    /// Parts of the toolchain whose folder the CMake project is told as `<PART>_ROOT`.
    pub(crate) sources: Vec<Part>,
    /// The folders of the package and of every workspace member that it depends on.
    pub(crate) crates: Vec<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    cmake: String,
    #[serde(default)]
    binaries: Vec<String>,
    #[serde(default)]
    runtime: Vec<String>,
    #[serde(default)]
    optional: Vec<String>,
    #[serde(default)]
    library: bool,
    #[serde(default)]
    share: Vec<String>,
    kernels: Vec<String>,
    catalogue: Option<String>,
    #[serde(default)]
    sources: Vec<Part>,
}

/// Asks cargo about the workspace in `root`.
pub(crate) fn load_workspace(root: &Path) -> Result<Workspace, Error> {
    let metadata = MetadataCommand::new()
        .current_dir(root)
        .no_deps()
        .exec()
        .map_err(|error| Error::Metadata(Box::new(error)))?;
    let members: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.name.as_str(), package)).collect();
    let mut components = Vec::new();
    for package in members.values() {
        let value = &package.metadata["component"];
        if value.is_null() {
            continue;
        }
        let wrong = |reason: String| Error::ComponentMetadata {
            manifest: package.manifest_path.clone().into(),
            reason,
        };
        let raw = Raw::deserialize(value).map_err(|error| wrong(error.to_string()))?;
        let folder = folder_of(package);
        if !folder.join(&raw.cmake).join("CMakeLists.txt").is_file() {
            return Err(wrong(format!("cmake = \"{}\" has no CMakeLists.txt", raw.cmake)));
        }
        components.push(Component {
            name: package.name.to_string(),
            version: package.version.to_string(),
            native: folder.join(&raw.cmake),
            kind: Kind::Kernels,
            binaries: raw.binaries,
            runtime: raw.runtime,
            optional: raw.optional,
            library: raw.library.then(|| package.name.replace('-', "_")),
            share: raw.share.iter().map(|name| folder.join(name)).collect(),
            kernels: raw.kernels,
            catalogue: raw.catalogue.map(|path| folder.join(path)),
            sources: raw.sources,
            crates: crates_below(package, &members),
        });
    }
    let version = components.first().map(|component| component.version.clone()).unwrap_or_default();
    Ok(Workspace { root: metadata.workspace_root.into(), version, components })
}

fn folder_of(package: &Package) -> PathBuf {
    package.manifest_path.parent().map(|folder| folder.as_std_path().to_owned()).unwrap_or_default()
}

/// `package` and its path dependencies, all the way down.
fn crates_below(package: &Package, members: &BTreeMap<&str, &Package>) -> Vec<PathBuf> {
    let mut names = BTreeSet::new();
    let mut open = vec![package.name.as_str()];
    while let Some(name) = open.pop() {
        let Some(member) = members.get(name) else { continue };
        if names.insert(name) {
            let is_normal = |d: &&cargo_metadata::Dependency| {
                d.path.is_some() && d.kind != cargo_metadata::DependencyKind::Development
            };
            open.extend(
                member.dependencies.iter().filter(is_normal).map(|dependency| dependency.name.as_str()),
            );
        }
    }
    names.iter().filter_map(|name| members.get(name)).map(|member| folder_of(member)).collect()
}

impl Component {
    /// Whether cargo builds a part of it.
    pub(crate) fn has_rust(&self) -> bool {
        !self.binaries.is_empty() || self.library.is_some()
    }

    /// The files of the shared folders: where each lies, and its path in the artifact.
    pub(crate) fn shared_files(&self) -> Result<Vec<(PathBuf, String)>, crate::files::Error> {
        let mut shared = Vec::new();
        for folder in &self.share {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            // What Python leaves behind when it runs from the sources.
            let is_source = |path: &String| !path.split('/').any(|part| part == "__pycache__");
            let paths = crate::files::list(folder)?.into_iter().filter(is_source);
            shared.extend(paths.map(|path| (folder.join(&path), format!("{name}/{path}"))));
        }
        Ok(shared)
    }
}

impl Workspace {
    /// The components that `--component` names, all when it names none.
    pub(crate) fn choose(&self, names: &[String]) -> Result<Vec<&Component>, Error> {
        if names.is_empty() {
            return Ok(self.components.iter().collect());
        }
        let find = |name: &String| {
            self.components.iter().find(|component| component.name == *name).ok_or_else(|| {
                let known: Vec<String> = self.components.iter().map(|c| c.name.clone()).collect();
                let nearest = gfx::nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
                Error::UnknownComponent { name: name.clone(), known, nearest }
            })
        };
        names.iter().map(find).collect()
    }
}
