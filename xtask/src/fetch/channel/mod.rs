//! The three ways to get an archive's bytes.

pub(crate) mod deb;
mod pip;
mod run;

use super::{Context, Error, http};
use crate::lock::{Archive, Channel, Source};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// An archive's bytes, not yet verified.
pub(super) struct Opened {
    /// The length as its giver states it.
    pub(super) length: Option<u64>,
    /// The bytes.
    pub(super) reader: Box<dyn Read + Send>,
    /// Where they lie already, when a client of the machine brought them.
    pub(super) local: Option<PathBuf>,
}

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
        Channel::Deb => deb::download(package, &source.archives, scratch, &context.mirrors),
    }
}

/// Opens one archive of a prepared source.
pub(super) fn open(channel: Channel, archive: &Archive, scratch: &Path) -> Result<Opened, Error> {
    if channel == Channel::Url {
        let body = http::get(&archive.url)?;
        return Ok(Opened { length: body.length, reader: body.reader, local: None });
    }
    let path = scratch.join(&archive.file);
    let file = File::open(&path).map_err(|source| Error::Io { verb: "open", path: path.clone(), source })?;
    Ok(Opened {
        length: file.metadata().ok().map(|meta| meta.len()),
        reader: Box::new(file),
        local: Some(path),
    })
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
            let mut body = http::get(&archive.url)?;
            let written = File::create(&path).and_then(|mut file| std::io::copy(&mut body.reader, &mut file));
            written.map_err(|source| Error::Io { verb: "write", path: path.clone(), source })?;
            Ok(path)
        }
        Channel::Pip => pip::download_any(archive, folder),
        Channel::Deb => deb::download_any(archive, folder, mirrors),
    }
}
