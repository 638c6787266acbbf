//! What the tests stand on.

mod archive;
mod server;
mod world;

pub(crate) use archive::{Member, dist_members, tar_gz};
pub(crate) use server::{Fault, Server};
pub(crate) use world::{Run, World, workspace_root};

/// A hash that no archive has.
pub(crate) const OTHER_HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The sha256 of `bytes`, in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
