//! Brings one package into the store, once, however many processes ask.

use super::receipt::Contents;
use super::staging::Staging;
use super::{Error, Layout, Manifest, Receipt, Store, TooLong, layout, path_length};
use crate::fetch::{self, Places, fetch_package, forget_partial, has_partial};
use crate::files::{self, Named, ProcessLock};
use crate::lock::{Host, Package, Part, Source, Toolchain};
use crate::ui::human_bytes;
use std::collections::BTreeSet;
use std::path::Path;

/// Unpacked bytes per packed byte when the lock does not say: the largest ratio among the dists of facts/therock.md 1.4 is 5.2.
const UNPACK_RATIO: u64 = 6;

impl Store {
    /// The receipt of `package`, from any of its sources, if it is installed.
    pub(super) fn installed(&self, package: &Package) -> Result<Option<Receipt>, Error> {
        for source in &package.sources {
            if let Some(receipt) = self.receipt(source.key(&package.only))? {
                return Ok(Some(receipt));
            }
        }
        Ok(None)
    }

    /// Installs `package` unless it is there. Tells whether anything was done.
    pub(super) fn install(
        &self,
        package: &Package,
        host: Host,
        targets: &[gfx::Target],
        context: &fetch::Context,
    ) -> Result<(Receipt, bool), Error> {
        let name = package.sources[0].key(&package.only).short();
        if let Some(receipt) = self.installed(package)? {
            self.sweep(package, &name, context)?;
            return Ok((receipt, false));
        }
        let _lock = self.lock(package, &name, context)?;
        if let Some(receipt) = self.installed(package)? {
            return Ok((receipt, false));
        }
        Ok((self.make(package, host, targets, context)?, true))
    }

    /// Fetches `package` again; what is there of it stays until the new entry is whole.
    pub(crate) fn install_again(
        &self,
        package: &Package,
        toolchain: &Toolchain,
        context: &fetch::Context,
    ) -> Result<Receipt, Error> {
        let name = package.sources[0].key(&package.only).short();
        let _lock = self.lock(package, &name, context)?;
        self.make(package, toolchain.host, &toolchain.targets, context)
    }

    /// Makes the entry. The caller holds its lock.
    fn make(
        &self,
        package: &Package,
        host: Host,
        targets: &[gfx::Target],
        context: &fetch::Context,
    ) -> Result<Receipt, Error> {
        let name = package.sources[0].key(&package.only).short();
        self.check_space(package)?;
        self.check_longest_path(package, host)?;
        let staging = Staging::create(&self.root, &name)?;
        let partials = self.root.join("partials");
        let (receipt, manifest) = fill(&staging, &partials, package, host, targets, context)?;
        let paths = manifest.entries.iter().map(|entry| entry.path.as_str());
        let tree = self.entry(receipt.key).join("tree");
        path_length::check(&tree, paths, host).map_err(|source| too_long(package, source))?;
        staging.publish("entry", &self.root, &self.entry(receipt.key))?;
        // Kept until now: a layout that is refused must not cost another download.
        self.forget_partials(package)?;
        Ok(receipt)
    }

    fn lock(&self, package: &Package, name: &str, context: &fetch::Context) -> Result<ProcessLock, Error> {
        let path = self.root.join("locks").join(format!("{name}.lock"));
        let doing = format!("installing {}", package.name);
        ProcessLock::acquire(&path, &doing, context.ui)?.ok_or(Error::Interrupted)
    }

    /// Removes what a process has left that died between the publishing of its entry and its own end.
    fn sweep(&self, package: &Package, name: &str, context: &fetch::Context) -> Result<(), Error> {
        let partials = self.root.join("partials");
        let mut archives = package.sources.iter().flat_map(|source| &source.archives);
        let staging = self.root.join("staging").join(name);
        let is_left = staging.exists() || archives.any(|archive| has_partial(&partials, archive.sha256));
        if !is_left {
            return Ok(());
        }
        let _lock = self.lock(package, name, context)?;
        files::remove_tree(&staging)?;
        self.forget_partials(package)
    }

    fn forget_partials(&self, package: &Package) -> Result<(), Error> {
        let partials = self.root.join("partials");
        let mut archives = package.sources.iter().flat_map(|source| &source.archives);
        Ok(archives.try_for_each(|archive| forget_partial(&partials, archive.sha256))?)
    }

    /// Before the first byte, where the lock tells the length.
    fn check_longest_path(&self, package: &Package, host: Host) -> Result<(), Error> {
        package.sources.iter().try_for_each(|source| {
            let longest = source.tree.as_ref().and_then(|tree| tree.longest).unwrap_or(0);
            let tree = self.entry(source.key(&package.only)).join("tree");
            path_length::check_longest(&tree, longest, host).map_err(|source| too_long(package, source))
        })
    }

    fn check_space(&self, package: &Package) -> Result<(), Error> {
        let needed = package.sources.iter().map(space_for).max().unwrap_or(0);
        let available = fs4::available_space(&self.root).named("measure", &self.root)?;
        match available < needed {
            false => Ok(()),
            true => Err(Error::NoSpace {
                path: self.root.clone(),
                package: package.name.clone(),
                needed: human_bytes(needed),
                available: human_bytes(available),
            }),
        }
    }
}

fn too_long(package: &Package, source: TooLong) -> Error {
    Error::PathLength { package: package.name.clone(), version: package.version.clone(), source }
}

/// Packed, unpacked and 5 %.
fn space_for(source: &Source) -> u64 {
    let packed: u64 = source.archives.iter().filter_map(|archive| archive.size).sum();
    let unpacked = source.tree.as_ref().map_or(packed * UNPACK_RATIO, |tree| tree.bytes);
    (packed + unpacked) * 105 / 100
}

/// Makes the whole entry in the staging folder; the receipt is written last.
fn fill(
    staging: &Staging,
    partials: &Path,
    package: &Package,
    host: Host,
    targets: &[gfx::Target],
    context: &fetch::Context,
) -> Result<(Receipt, Manifest), Error> {
    let (entry, scratch) = (staging.path().join("entry"), staging.path().join("scratch"));
    files::create_folder(&entry)?;
    files::create_folder(&scratch)?;
    let tree = entry.join("tree");
    let places = Places { tree: &tree, scratch: &scratch, partials };
    let (index, manifest) = fetch_package(package, places, context).map_err(|source| match source {
        fetch::Error::Interrupted => Error::Interrupted,
        source => Error::Fetch {
            package: package.name.clone(),
            version: package.version.clone(),
            source: Box::new(source),
        },
    })?;
    let source = &package.sources[index];
    let layout = find_layout(package, &manifest, host, targets)?;
    check_version(package, &manifest, &layout, &tree)?;
    let key = source.key(&package.only);
    let receipt = Receipt::new(Contents { key, package, source, manifest: &manifest, parts: layout.parts });
    files::make_read_only(&tree)?;
    write_json(&entry.join("manifest.json"), &manifest)?;
    write_json(&entry.join("receipt.json"), &receipt)?;
    Ok((receipt, manifest))
}

/// Refuses a tree that lacks what `package` provides; which targets a toolchain has is not known here.
pub(crate) fn check_layout(package: &Package, manifest: &Manifest) -> Result<(), Error> {
    find_layout(package, manifest, package.host.unwrap_or(Host::THIS), &[]).map(drop)
}

fn find_layout(
    package: &Package,
    manifest: &Manifest,
    host: Host,
    targets: &[gfx::Target],
) -> Result<Layout, Error> {
    let paths: BTreeSet<&str> = manifest.entries.iter().map(|entry| entry.path.as_str()).collect();
    layout::detect(&paths, &package.provides, host, targets).map_err(|source| Error::Layout {
        package: package.name.clone(),
        version: package.version.clone(),
        source,
    })
}

/// A dist tells its release in `.info/version` beside its headers (facts/therock.md 3.3): the lock must not call it another.
fn check_version(package: &Package, manifest: &Manifest, layout: &Layout, tree: &Path) -> Result<(), Error> {
    let Some(root) = layout.parts.get(&Part::Hip) else { return Ok(()) };
    let file = [root.as_str(), ".info/version"].into_iter().filter(|part| !part.is_empty());
    let file = file.collect::<Vec<_>>().join("/");
    if !manifest.entries.iter().any(|entry| entry.path == file) {
        return Ok(());
    }
    let text = files::read_text(&tree.join(&file))?;
    let found = text.split_whitespace().next().unwrap_or_default().to_owned();
    match found == package.version {
        true => Ok(()),
        false => Err(Error::Version {
            package: package.name.clone(),
            file,
            expected: package.version.clone(),
            found,
        }),
    }
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(value)
        .map_err(|error| Error::Damaged { path: path.to_owned(), reason: error.to_string() })?;
    Ok(files::write_whole(path, text.as_bytes())?)
}
