//! What an archive and the tree in it are: downloaded, hashed, unpacked by the rules of every bootstrap.

use super::Session;
use crate::commands::bootstrap::From;
use crate::digest::Sha256;
use crate::fetch::{self, download_to};
use crate::files::{self, Named};
use crate::lock::{Archive, Channel, Measured, Package, TreeFacts};
use crate::store::{self, Manifest};
use std::path::Path;

/// Downloads an archive into `mirror`, laid out as one, and measures it; `by` names the command for the lock.
pub(super) fn archive(
    channel: Channel,
    mut archive: Archive,
    mirror: &Path,
    by: &str,
    context: &fetch::Context,
) -> anyhow::Result<Archive> {
    let folder = tempfile::tempdir_in(mirror)?;
    let path = download_to(channel, &archive, folder.path(), context)?;
    let (sha256, size) = Sha256::of_file(&path).named("read", &path)?;
    archive.file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match channel {
        Channel::Deb => archive.version = name_part(&archive.file, '_').replace("%3a", ":"),
        Channel::Pip => archive.version = name_part(&archive.file, '-').to_owned(),
        Channel::Url => {}
    }
    (archive.sha256, archive.size) = (sha256, Some(size));
    archive.measured = vec![Measured { by: by.into(), on: crate::clock::today() }];
    let place = mirror.join(fetch::path_in_mirror(sha256, &archive.file));
    files::create_folder(place.parent().unwrap_or(mirror))?;
    files::rename(&path, &place)?;
    Ok(archive)
}

/// The version in a file's name, which is its second part (PEP 427, Debian policy).
fn name_part(file: &str, separator: char) -> &str {
    file.split(separator).nth(1).unwrap_or_default()
}

/// Fetches a package as a bootstrap does, into a folder that is gone afterwards: the store is not touched. The outer error is about that folder.
pub(super) fn fetch_beside_store(
    package: &Package,
    context: &fetch::Context,
) -> std::io::Result<Result<Manifest, fetch::Error>> {
    let work = tempfile::tempdir()?;
    let path = |name: &str| work.path().join(name);
    let (tree, scratch, partials) = (path("tree"), path("scratch"), path("partials"));
    let places = fetch::Places { tree: &tree, scratch: &scratch, partials: &partials };
    Ok(fetch::fetch_package(package, places, context).map(|(_, manifest)| manifest))
}

/// Unpacks what was downloaded, by the rules of every bootstrap, and checks that it has what it provides.
pub(super) fn tree(package: &Package, mirror: &Path, session: &Session) -> anyhow::Result<TreeFacts> {
    let mirrors = vec![mirror.display().to_string().parse()?];
    let context = session.fetching(&From { mirrors, offline: true, connections: None });
    let manifest = fetch_beside_store(package, &context)??;
    store::check_layout(package, &manifest)?;
    let paths = manifest.entries.iter().map(|entry| entry.path.as_str());
    Ok(TreeFacts {
        files: manifest.entries.len() as u64,
        bytes: manifest.bytes(),
        longest: Some(store::longest_path(paths)),
        sha256: manifest.digest(),
    })
}
