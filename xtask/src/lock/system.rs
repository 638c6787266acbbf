//! The toolchain `system`: the machine's own SDK with the pinned tools and sources of the lock.

use super::model::{Host, Lock, Part, Toolchain};

/// Its name, which no toolchain of the lock may have.
pub(crate) const SYSTEM: &str = "system";

/// What the machine's SDK brings.
const OF_SDK: [Part; 4] = [Part::Compiler, Part::OffloadBundler, Part::Hip, Part::DeviceLibs];

impl Lock {
    /// Adds it for `host`: what an SDK does not bring comes from the packages of the host's first toolchain, pinned as ever. Whether the SDK can
    /// build a target is for its clang to say, so it has the targets of all.
    pub(crate) fn add_system(&mut self, host: Host) {
        let of_host = || self.toolchains.iter().filter(|toolchain| toolchain.host == host);
        let mut targets: Vec<gfx::Target> =
            of_host().flat_map(|toolchain| toolchain.targets.clone()).collect();
        targets.sort();
        targets.dedup();
        let is_of_sdk = |name: &str| {
            let named = self.packages.iter().filter(|package| package.name == name);
            named.flat_map(|package| &package.provides).any(|part| OF_SDK.contains(part))
        };
        let packages = of_host().next().map_or(Vec::new(), |first| {
            first.packages.iter().filter(|name| !is_of_sdk(name)).cloned().collect()
        });
        self.toolchains.push(Toolchain {
            name: SYSTEM.to_owned(),
            host,
            rocm: SYSTEM.to_owned(),
            targets,
            packages,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::{parse, select};

    #[test]
    fn the_systems_toolchain_keeps_what_an_sdk_does_not_bring() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolchains.lock");
        let mut lock = crate::lock::load(&path).expect("the lock");
        lock.add_system(Host::Linux);
        let selected = select(&lock, SYSTEM, Host::Linux).expect("system");
        let names: Vec<&str> = selected.packages().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["cmake", "ninja", "composable-kernel"]);
        assert!(selected.toolchain.targets.contains(&gfx::Target::Gfx1201));
    }

    #[test]
    fn no_toolchain_of_a_lock_is_called_system() {
        let text = "version = 1\n[[toolchain]]\nname = \"system\"\nhost = \"x86_64-unknown-linux-gnu\"\nrocm = \"1\"\ntargets = []\npackages = []\n";
        let error = parse(std::path::Path::new("t.lock"), text).expect_err("refused");
        assert_eq!(
            error.to_string(),
            "t.lock:3:8: `system` is the machine's own toolchain and no name for another"
        );
    }
}
