//! What the tests stand on.

mod component;
mod locks;
mod release;
mod rocm;
mod schemas;
mod store;
mod terminal;
mod tls;
mod world;

pub(crate) use component::{KERNEL, component_world};
pub(crate) use conformance::{Fault, Member, Server, dist_members, large_tar_gz, sha256, tar_gz};
pub(crate) use locks::{BOOTSTRAP, lock, lock_of, with_a_source_that_is_gone};
pub(crate) use release::{Released, TARGETS, release, release_name, released};
pub(crate) use rocm::{HOST, artifact, device, dist, library, names, program, rocm_world};
pub(crate) use schemas::{json_complaints, misfits, schema_complaints};
pub(crate) use store::store;
pub(crate) use terminal::on_terminal;
pub(crate) use tls::Tls;
pub(crate) use world::{Run, World, workspace_root};

/// Waits for what another process does; fails after half a minute.
#[track_caller]
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed().as_secs() < 30, "waited in vain until {what}");
        std::thread::yield_now();
    }
}

/// A hash that no archive has.
pub(crate) const OTHER_HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
