//! The three ways to get an archive's bytes.

pub(crate) mod deb;
mod pip;
mod run;

use super::feed::{Feed, HttpFeed, LocalFeed};
use super::ranges::RangesFeed;
use super::{Context, Error, Places};
use crate::files;
use crate::lock::{Archive, Channel, Source};
use std::path::{Path, PathBuf};

/// Has the machine's own clients fetch what they fetch into `scratch`; url sources need nothing before they are opened.
pub(super) fn prepare(
    package: &str,
    source: &Source,
    scratch: &Path,
    context: &Context,
) -> Result<(), Error> {
    match source.channel {
        Channel::Url => Ok(()),
        Channel::Pip => source.archives.iter().try_for_each(|archive| pip::download(archive, scratch)),
        Channel::Deb => deb::download(package, &source.archives, scratch, &context.debian),
    }
}

/// What keeps this machine's client from fetching archives, before anything is asked of a server.
///
/// # Errors
/// [`Error::NoApt`], [`Error::NoMirror`] or [`Error::NoPip`].
pub(crate) fn check_client(
    channel: Channel,
    archives: &[&Archive],
    debian: &deb::Mirrors,
) -> Result<(), Error> {
    match channel {
        Channel::Url => Ok(()),
        Channel::Pip => pip::check(),
        Channel::Deb => deb::check(archives, debian),
    }
}

/// Opens one archive of a prepared source.
pub(super) fn open<'a>(
    channel: Channel,
    archive: &'a Archive,
    places: &Places,
    context: &'a Context,
) -> Result<Box<dyn Feed + 'a>, Error> {
    match channel {
        Channel::Url => open_url(&archive.url, archive, places, context),
        Channel::Pip | Channel::Deb => Ok(Box::new(LocalFeed::open(places.scratch.join(&archive.file))?)),
    }
}

/// Opens the archive at `url`, which need not be the one that the lock names.
pub(super) fn open_url<'a>(
    url: &str,
    archive: &'a Archive,
    places: &Places,
    context: &'a Context,
) -> Result<Box<dyn Feed + 'a>, Error> {
    let ranges = RangesFeed::open(url, archive, places.partials, context.timing, context.ui)?;
    if let Some(feed) = ranges {
        return Ok(Box::new(feed));
    }
    Ok(Box::new(HttpFeed::open(url, archive, places.partials, context.timing, context.ui)?))
}

/// Brings an archive of a source that is not in the lock yet, whatever its size and hash are, for `lock add` to measure.
pub(crate) fn download_to(
    channel: Channel,
    archive: &Archive,
    folder: &Path,
    context: &Context,
) -> Result<PathBuf, Error> {
    match channel {
        Channel::Url => {
            let unmeasured = Archive { size: None, ..archive.clone() };
            let (url, partials) = (&unmeasured.url, folder.join("partials"));
            let mut feed = HttpFeed::open(url, &unmeasured, &partials, context.timing, context.ui)?;
            while feed.next()?.is_some() {}
            let (whole, path) = (feed.file().to_owned(), folder.join(&archive.file));
            drop(feed);
            files::rename(&whole, &path)?;
            Ok(path)
        }
        Channel::Pip => pip::download_any(archive, folder),
        Channel::Deb => deb::download_any(archive, folder, &context.debian),
    }
}
