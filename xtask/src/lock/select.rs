//! From a lock and a name to the packages that have to be in the store.

use super::Error;
use super::model::{Host, Lock, Package, Toolchain};

/// A toolchain with its packages, as the lock has them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selected<'a> {
    /// The toolchain.
    pub(crate) toolchain: &'a Toolchain,
    lock: &'a Lock,
}

/// Finds the toolchain `name` that runs on `host`: the one for it before one for the other ABI of the same system.
pub(crate) fn select<'a>(lock: &'a Lock, name: &str, host: Host) -> Result<Selected<'a>, Error> {
    let for_host = || lock.toolchains.iter().filter(|toolchain| host.runs(toolchain.host));
    let named = || for_host().filter(|toolchain| toolchain.name == name);
    match named().find(|toolchain| toolchain.host == host).or_else(|| named().next()) {
        Some(toolchain) => Ok(Selected { toolchain, lock }),
        None => {
            let known: Vec<String> = for_host().map(|toolchain| toolchain.name.clone()).collect();
            let nearest = gfx::nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
            Err(Error::UnknownToolchain { name: name.to_owned(), host: host.triple(), known, nearest })
        }
    }
}

impl<'a> Selected<'a> {
    /// The toolchain's packages, in its order.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &'a Package> {
        let (lock, host) = (self.lock, self.toolchain.host);
        let runs_here = move |package: &&Package| package.host.is_none_or(|own| own == host);
        self.toolchain.packages.iter().filter_map(move |name| {
            lock.packages.iter().filter(runs_here).find(|package| package.name == *name)
        })
    }

    /// Refuses the first target that the toolchain cannot build.
    pub(crate) fn check_targets(&self, targets: &[gfx::Target]) -> Result<(), Error> {
        match targets.iter().find(|target| !self.toolchain.targets.contains(target)) {
            None => Ok(()),
            Some(target) => Err(Error::TargetNotBuilt {
                toolchain: self.toolchain.name.clone(),
                target: *target,
                known: self.toolchain.targets.iter().map(ToString::to_string).collect(),
            }),
        }
    }
}
