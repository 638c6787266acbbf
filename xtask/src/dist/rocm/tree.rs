//! The package of a toolchain that has ROCm's libraries.

use crate::dist::Error;
use crate::dist::closure::Tree;
use crate::files;
use crate::lock::{Host, Part};
use crate::store::{Installed, Kind, Manifest};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// An unpacked ROCm dist and the manifest that the store keeps of it.
#[derive(Debug, Clone)]
pub(crate) struct RocmTree {
    /// The package's name.
    pub(crate) package: String,
    /// Its version.
    pub(crate) version: String,
    /// Where it lies.
    pub(crate) root: PathBuf,
    /// Its files and links by path.
    pub(crate) entries: BTreeMap<String, Kind>,
}

/// A file of the dist, links followed.
pub(crate) struct File<'a> {
    /// In the tree.
    pub(crate) path: String,
    /// In bytes.
    pub(crate) size: u64,
    /// In the manifest.
    pub(crate) sha256: &'a crate::digest::Sha256,
}

impl RocmTree {
    /// The first package of `toolchain` that has the HIP runtime for `host`; `None`: the toolchain has none, as `lite`.
    pub(crate) fn find(toolchain: &Installed, host: Host) -> Result<Option<Self>, Error> {
        let runtime = match host {
            Host::Linux => "lib/libamdhip64.so.7",
            Host::WindowsMsvc | Host::WindowsGnu => "bin/amdhip64_7.dll",
        };
        for package in &toolchain.packages {
            // Where a dist has its top, below a folder that wraps everything or not.
            let top = package.receipt.parts.get(&Part::Hip).map(String::as_str).unwrap_or_default();
            let prefix = if top.is_empty() { String::new() } else { format!("{top}/") };
            let root = package.tree.join(top);
            if root.join(runtime).is_file() {
                let manifest: Manifest = files::read_json(&package.tree.with_file_name("manifest.json"))?;
                return Ok(Some(Self {
                    package: package.receipt.package.clone(),
                    version: package.receipt.version.clone(),
                    root,
                    entries: manifest
                        .entries
                        .into_iter()
                        .filter_map(|entry| Some((entry.path.strip_prefix(&prefix)?.to_owned(), entry.kind)))
                        .collect(),
                }));
            }
        }
        Ok(None)
    }

    /// For the closure.
    pub(crate) fn listing(&self) -> Tree {
        Tree::of_paths(&self.root, self.entries.keys().map(String::as_str))
    }

    /// The file that `path` leads to.
    pub(crate) fn file(&self, path: &str) -> Option<File<'_>> {
        let mut path = path.to_owned();
        // A chain of sonames has three links; the store refuses circles.
        for _ in 0..16 {
            match self.entries.get(&path)? {
                Kind::File { size, sha256, .. } => return Some(File { path, size: *size, sha256 }),
                Kind::Link { target } => {
                    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                    path = joined(folder, target)?;
                }
            }
        }
        None
    }

    /// The files below `folder`, relative to the tree.
    pub(crate) fn below<'t>(&'t self, folder: &str) -> impl Iterator<Item = &'t str> {
        let start = format!("{folder}/");
        let end = format!("{folder}0"); // '0' follows '/'
        self.entries.range(start..end).map(|(path, _)| path.as_str())
    }
}

/// `target` seen from `folder`; `None` above the root.
fn joined(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
