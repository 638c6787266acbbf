//! The three ways to get an archive's bytes.

pub(crate) mod deb;
mod pip;
mod run;

use super::feed::{Feed, HttpFeed, LocalFeed};
use super::ranges::RangesFeed;
use super::{Context, Error, Places, http};
use crate::lock::{Archive, Channel, Source};
use std::fs::File;
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

/// Brings an archive of a source that is not in the lock yet, without any check, for `lock add` to measure.
pub(crate) fn download_to(
    channel: Channel,
    archive: &Archive,
    folder: &Path,
    mirrors: &deb::Mirrors,
) -> Result<PathBuf, Error> {
    match channel {
        Channel::Url => {
            let path = folder.join(&archive.file);
            let mut body =
                http::get(&archive.url, http::Wanted::from(0), None).map_err(|refused| refused.error)?;
            let written = File::create(&path).and_then(|mut file| std::io::copy(&mut body.reader, &mut file));
            written.map_err(|source| Error::Io { verb: "write", path: path.clone(), source })?;
            Ok(path)
        }
        Channel::Pip => pip::download_any(archive, folder),
        Channel::Deb => deb::download_any(archive, folder, mirrors),
    }
}
