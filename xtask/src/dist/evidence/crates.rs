//! The crates that are linked into the programs of a release: what cargo resolves for them, with the hashes of Cargo.lock.

use crate::build::Component;
use crate::dist::Error;
use crate::files::{self, Named};
use crate::lock::Host;
use cargo_metadata::{DependencyKind, MetadataCommand, Package, PackageId};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Crate {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// SPDX expression, as Cargo.toml has it.
    pub(crate) license: Option<String>,
    /// The sha256 of its `.crate` file; `None`: it is part of this workspace.
    pub(crate) checksum: Option<String>,
}

#[derive(Deserialize)]
struct CargoLock {
    #[serde(default)]
    package: Vec<LockedPackage>,
}

#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The crates of every component that ships programs, sorted; none when no component does.
pub(crate) fn crates_of(root: &Path, components: &[&Component], host: Host) -> Result<Vec<Crate>, Error> {
    let with_programs: BTreeSet<&str> =
        components.iter().filter(|c| !c.binaries.is_empty()).map(|c| c.name.as_str()).collect();
    if with_programs.is_empty() {
        return Ok(Vec::new());
    }
    let options = ["--locked".to_owned(), "--filter-platform".into(), host.triple().into()];
    let metadata = MetadataCommand::new()
        .current_dir(root)
        .other_options(options)
        .exec()
        .map_err(|error| Error::Crates(Box::new(error)))?;
    let packages: BTreeMap<&PackageId, &Package> = metadata.packages.iter().map(|p| (&p.id, p)).collect();
    let nodes: BTreeMap<_, _> =
        metadata.resolve.iter().flat_map(|resolve| &resolve.nodes).map(|node| (&node.id, node)).collect();
    let mut open: Vec<&PackageId> = metadata
        .workspace_members
        .iter()
        .filter(|id| packages.get(id).is_some_and(|package| with_programs.contains(package.name.as_str())))
        .collect();
    let mut known: BTreeSet<&PackageId> = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !known.insert(id) {
            continue;
        }
        let Some(node) = nodes.get(id) else { continue };
        // What only a build script or a test needs is not shipped.
        let is_linked = |dependency: &&cargo_metadata::NodeDep| {
            dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
        };
        open.extend(node.deps.iter().filter(is_linked).map(|dependency| &dependency.pkg));
    }
    let checksums = checksums(root)?;
    let of_package = |package: &&Package| {
        let (name, version) = (package.name.to_string(), package.version.to_string());
        let checksum = checksums.get(&(name.clone(), version.clone())).cloned();
        Crate { name, version, license: package.license.clone(), checksum }
    };
    let mut crates: Vec<Crate> = known.iter().filter_map(|id| packages.get(id)).map(of_package).collect();
    crates.sort();
    Ok(crates)
}

fn checksums(root: &Path) -> Result<BTreeMap<(String, String), String>, files::Error> {
    let path = root.join("Cargo.lock");
    let lock: CargoLock =
        toml::from_str(&files::read_text(&path)?).map_err(std::io::Error::other).named("read", &path)?;
    let entry = |package: LockedPackage| Some(((package.name, package.version), package.checksum?));
    Ok(lock.package.into_iter().filter_map(entry).collect())
}
