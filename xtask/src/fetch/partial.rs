//! Bytes that have come already, kept across runs until the package they are for is installed.

use crate::address;
use crate::digest::Sha256;
use crate::files::{self, Error, Named};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Where the bytes of a partial file came from: what a server needs to tell whether its file is still the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// Scheme, host and port of the address that was asked.
    url: String,
    /// A strong ETag or a Last-Modified date (RFC 9110, 13.1.5); weak ones promise too little.
    pub(crate) validator: Option<String>,
}

impl Origin {
    /// Of an answer from `url`.
    pub(crate) fn of(url: &str, validator: Option<String>) -> Self {
        Self { url: address::origin(url), validator }
    }

    /// Whether `url` is of the same origin: a validator means nothing elsewhere.
    pub(crate) fn is_of(&self, url: &str) -> bool {
        self.url == address::origin(url)
    }
}

/// `partials/<16 hex>.part` and its sidecar `.json`.
#[derive(Debug)]
pub(crate) struct Partial {
    path: PathBuf,
    file: File,
    length: u64,
    origin: Option<Origin>,
}

impl Partial {
    /// Opens what there is of the archive with this digest; bytes beyond `size` cannot belong to it.
    pub(crate) fn open(folder: &Path, sha256: Sha256, size: Option<u64>) -> Result<Self, Error> {
        files::create_folder(folder)?;
        let path = path(folder, sha256);
        let mut options = File::options();
        let file =
            options.read(true).write(true).create(true).truncate(false).open(&path).named("open", &path)?;
        let length = file.metadata().named("read", &path)?.len();
        let sidecar = std::fs::read_to_string(sidecar(&path)).ok();
        let origin = sidecar.and_then(|text| serde_json::from_str(&text).ok());
        let mut partial = Self { path, file, length, origin };
        if size.is_some_and(|size| length > size) {
            partial.clear()?;
        }
        Ok(partial)
    }

    /// How many bytes there are.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Where they came from.
    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Notes where the bytes come from that are appended from now on.
    pub(crate) fn set_origin(&mut self, origin: Origin) -> Result<(), Error> {
        let text = serde_json::to_string(&origin).unwrap_or_default();
        files::write_private(&sidecar(&self.path), text.as_bytes())?;
        self.origin = Some(origin);
        Ok(())
    }

    /// Adds bytes at the end.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        files::step();
        self.file.seek(SeekFrom::Start(self.length)).named("write", &self.path)?;
        self.file.write_all(bytes).named("write", &self.path)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Forgets all bytes.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        self.file.set_len(0).named("truncate", &self.path)?;
        (self.length, self.origin) = (0, None);
        files::remove_tree(&sidecar(&self.path))
    }

    /// Where the file lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts bytes that turned out to be wrong aside, where a person can look at them; one file is kept for each archive.
    pub(crate) fn quarantine(self) -> Result<(), Error> {
        let bad = self.path.with_extension("bad");
        files::remove_tree(&bad)?;
        files::remove_tree(&sidecar(&self.path))?;
        files::rename(&self.path, &bad)
    }
}

/// Where the bytes of an archive are kept.
pub(crate) fn path(folder: &Path, sha256: Sha256) -> PathBuf {
    folder.join(format!("{}.part", sha256.short()))
}

/// Whether anything is kept of an archive.
pub(crate) fn exists(folder: &Path, sha256: Sha256) -> bool {
    !files_of(folder, sha256).is_empty()
}

/// Removes what was kept for an archive that is installed now.
pub(crate) fn forget(folder: &Path, sha256: Sha256) -> Result<(), Error> {
    files_of(folder, sha256).iter().try_for_each(|path| files::remove_tree(path))
}

/// All that is there of an archive: its bytes, pieces and sidecar, what was put aside, and what a crash left half-written.
fn files_of(folder: &Path, sha256: Sha256) -> Vec<PathBuf> {
    let prefix = format!("{}.", sha256.short());
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter(|file| file.file_name().to_string_lossy().starts_with(&prefix))
        .map(|file| file.path())
        .collect()
}

fn sidecar(path: &Path) -> PathBuf {
    path.with_extension("json")
}
