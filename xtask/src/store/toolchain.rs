//! A toolchain whose packages are all in the store.

use super::{Error, Receipt, Store};
use crate::digest::{Hasher, Sha256};
use crate::fetch;
use crate::files;
use crate::lock::{Host, Package, Part, Selected};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Every part by its absolute path, and the digest of it all.
#[derive(Debug, Clone)]
pub(crate) struct Installed {
    /// The lock's name.
    pub(crate) name: String,
    /// The ROCm release.
    pub(crate) rocm: String,
    /// Over the packages' names and keys.
    pub(crate) digest: Sha256,
    /// Whether every byte of it is in the lock; not so for the machine's own SDK.
    pub(crate) is_pinned: bool,
    /// In the lock's order.
    pub(crate) packages: Vec<InstalledPackage>,
    /// Where each part lies.
    pub(crate) parts: BTreeMap<Part, PathBuf>,
}

/// One package of it.
#[derive(Debug, Clone)]
pub(crate) struct InstalledPackage {
    /// What the receipt says.
    pub(crate) receipt: Receipt,
    /// Its tree.
    pub(crate) tree: PathBuf,
    /// Whether this run brought it.
    pub(crate) is_new: bool,
}

/// Installs what is missing of the selected toolchain.
pub(crate) fn bootstrap(
    store: &Store,
    selected: Selected,
    context: &fetch::Context,
) -> Result<Installed, Error> {
    let toolchain = selected.toolchain;
    if !Host::THIS.runs(toolchain.host) {
        return Err(Error::OtherHost {
            toolchain: toolchain.name.clone(),
            host: toolchain.host.triple(),
            this: Host::THIS.triple(),
        });
    }
    let mut packages = Vec::new();
    for package in selected.packages() {
        let is_missing = store.installed(package)?.is_none();
        if is_missing {
            files::create_folder(store.root())?;
        }
        let (receipt, is_new) = store.install(package, toolchain.host, &toolchain.targets, context)?;
        packages.push(InstalledPackage { tree: store.entry(receipt.key).join("tree"), receipt, is_new });
    }
    Ok(assemble(selected, packages))
}

/// The selected toolchain, if all of it is installed.
pub(crate) fn load_installed(store: &Store, selected: Selected) -> Result<Installed, Error> {
    let load = |package| store.load(package, &selected.toolchain.name);
    let packages = selected.packages().map(load).collect::<Result<_, Error>>()?;
    Ok(assemble(selected, packages))
}

impl Store {
    /// One package of `toolchain`, if it is installed.
    pub(crate) fn load(&self, package: &Package, toolchain: &str) -> Result<InstalledPackage, Error> {
        let Some(receipt) = self.installed(package)? else {
            return Err(Error::NotInstalled {
                toolchain: toolchain.to_owned(),
                package: package.name.clone(),
                store: self.root().to_owned(),
            });
        };
        Ok(InstalledPackage { tree: self.entry(receipt.key).join("tree"), receipt, is_new: false })
    }
}

fn assemble(selected: Selected, packages: Vec<InstalledPackage>) -> Installed {
    let mut hasher = Hasher::new();
    let mut parts = BTreeMap::new();
    for package in &packages {
        hasher.field(&package.receipt.package);
        hasher.field(&package.receipt.key.to_string());
        for (part, path) in &package.receipt.parts {
            parts.insert(*part, package.tree.join(path));
        }
    }
    Installed {
        name: selected.toolchain.name.clone(),
        rocm: selected.toolchain.rocm.clone(),
        digest: hasher.finish().0,
        is_pinned: true,
        packages,
        parts,
    }
}
