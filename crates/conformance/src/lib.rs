//! Hostile and unusual archives, and the server that offers them, as a table: xtask's tests run it against xtask, `bench/conformance` against
//! `curl | tar` too.

mod cases;
mod dist;
mod pack;
mod raw_tar;
mod server;

pub use cases::{Case, Verdict, cases};
pub use dist::{Member, dist_members, large_tar_gz, tar, tar_gz};
pub use pack::{gunzip, gzip};
pub use server::{Fault, Server};

/// The sha256 of `bytes`, in hex.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
