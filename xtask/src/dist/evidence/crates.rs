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
    /// The licence texts in its source, sorted by file name; none for a crate of this workspace, whose licence lies in the release's root.
    pub(crate) texts: Vec<String>,
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

/// The crates that are linked into the programs and libraries of `components`, sorted; none when they have none.
pub(crate) fn crates_of(
    root: &Path,
    components: &[&Component],
    host: Host,
    is_offline: bool,
) -> Result<Vec<Crate>, Error> {
    let with_rust: BTreeSet<&str> =
        components.iter().filter(|c| c.has_rust()).map(|c| c.name.as_str()).collect();
    if with_rust.is_empty() {
        return Ok(Vec::new());
    }
    let mut options = vec!["--locked".to_owned(), "--filter-platform".into(), host.triple().into()];
    options.extend(is_offline.then(|| "--offline".to_owned()));
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
        .filter(|id| packages.get(id).is_some_and(|package| with_rust.contains(package.name.as_str())))
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
        let texts = if checksum.is_some() { texts(package)? } else { Vec::new() };
        Ok(Crate { name, version, license: package.license.clone(), checksum, texts })
    };
    let linked = known.iter().filter_map(|id| packages.get(id));
    let mut crates: Vec<Crate> = linked.map(of_package).collect::<Result<_, Error>>()?;
    crates.sort();
    Ok(crates)
}

/// The licence files beside a crate's Cargo.toml.
fn texts(package: &Package) -> Result<Vec<String>, files::Error> {
    let folder = package.manifest_path.as_std_path().parent().unwrap_or(Path::new("."));
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .named("read", folder)?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            let name = name.to_ascii_lowercase();
            ["license", "licence", "copying", "copyright", "unlicense", "notice"]
                .iter()
                .any(|w| name.starts_with(w))
        })
        .filter(|name| folder.join(name).is_file())
        .collect();
    names.sort();
    names.iter().map(|name| files::read_text(&folder.join(name))).collect()
}

/// One text with the licences of all crates that are not ours: each text once, under the names of the crates that have it. `None`: there are none.
pub(crate) fn crate_licences(crates: &[Crate]) -> Option<String> {
    let mut by_text: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for own in crates {
        for text in &own.texts {
            by_text.entry(text.trim()).or_default().push(format!("{} {}", own.name, own.version));
        }
    }
    let mut parts: Vec<(Vec<String>, &str)> =
        by_text.into_iter().map(|(text, names)| (names, text)).collect();
    parts.sort();
    let part = |(names, text): &(Vec<String>, &str)| format!("{}\n\n{text}\n", names.join(", "));
    let line = format!("\n{}\n\n", "-".repeat(80));
    (!parts.is_empty()).then(|| parts.iter().map(part).collect::<Vec<_>>().join(&line))
}

fn checksums(root: &Path) -> Result<BTreeMap<(String, String), String>, files::Error> {
    let path = root.join("Cargo.lock");
    let lock: CargoLock =
        toml::from_str(&files::read_text(&path)?).map_err(std::io::Error::other).named("read", &path)?;
    let entry = |package: LockedPackage| Some(((package.name, package.version), package.checksum?));
    Ok(lock.package.into_iter().filter_map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_licence_is_printed_once_under_all_its_crates() {
        let own = |name: &str, texts: &[&str]| Crate {
            name: name.into(),
            version: "1.0.0".into(),
            license: None,
            checksum: None,
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        };
        let crates = [
            own("a", &["MIT of A\n"]),
            own("b", &["Apache"]),
            own("c", &["MIT of C", "Apache\n"]),
            own("d", &[]),
        ];
        let line = "-".repeat(80);
        let expected = format!(
            "a 1.0.0\n\nMIT of A\n\n{line}\n\nb 1.0.0, c 1.0.0\n\nApache\n\n{line}\n\nc 1.0.0\n\nMIT of C\n"
        );
        assert_eq!(crate_licences(&crates), Some(expected));
        assert_eq!(crate_licences(&crates[3..]), None);
    }
}
