//! Locks for tests.

use super::{Fault, Server, World, dist_members, sha256, tar_gz};

/// A lock with one toolchain `t` of one package, whose sources are `(url, sha256, size)`.
pub(crate) fn lock(sources: &[(&str, &str, Option<usize>)]) -> String {
    let mut text = r#"version = 1

[[toolchain]]
name = "t"
host = "x86_64-unknown-linux-gnu"
rocm = "10.0.0"
targets = ["gfx1100", "gfx1201"]
packages = ["dist"]

[[package]]
name = "dist"
version = "10.0.0"
host = "x86_64-unknown-linux-gnu"
license = "MIT"
provides = ["compiler", "hip", "device-libs"]
"#
    .to_owned();
    for (url, hash, size) in sources {
        let size = size.map(|size| format!("size = {size}\n")).unwrap_or_default();
        text += &format!(
            "\n[[package.source]]\nchannel = \"url\"\n\n[[package.source.archive]]\nurl = \"{url}\"\nfile = \"dist.tar.gz\"\n{size}sha256 = \"{hash}\"\n"
        );
    }
    text
}

/// The same with one source, which `server` offers.
pub(crate) fn lock_of(server: &Server, archive: &[u8], fault: Fault) -> String {
    let url = server.offer("dist.tar.gz", archive, fault);
    lock(&[(&url, &sha256(archive), Some(archive.len()))])
}

/// A world whose package has two sources, the first of which is not there: worth a warning.
pub(crate) fn with_a_source_that_is_gone() -> (Server, World) {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let (hash, size) = (sha256(&archive), Some(archive.len()));
    let gone = server.offer("gone.tar.gz", b"", Fault::Status(404));
    let good = server.offer("good.tar.gz", &archive, Fault::None);
    let world = World::with_lock(&lock(&[(&gone, &hash, size), (&good, &hash, size)]));
    (server, world)
}

/// The command that installs it.
pub(crate) const BOOTSTRAP: [&str; 3] = ["bootstrap", "--toolchain", "t"];
