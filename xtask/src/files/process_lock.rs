//! A lock that one process holds, so that two never make the same thing at the same time.

use super::{Error, Named, create_folder};
use crate::ui::{Ui, interrupted};
use std::fmt;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Holds the lock until it is dropped. The file stays: to delete a lock file is a race.
#[derive(Debug)]
pub(crate) struct ProcessLock {
    _file: File,
}

const POLL: Duration = Duration::from_millis(100);

impl ProcessLock {
    /// Whether somebody holds the lock at `path`. Makes nothing.
    pub(crate) fn is_held(path: &Path) -> Result<bool, Error> {
        match File::open(path).map(|file| file.try_lock()) {
            Err(_) | Ok(Ok(())) => Ok(false),
            Ok(Err(TryLockError::WouldBlock)) => Ok(true),
            Ok(Err(TryLockError::Error(source))) if has_no_locks(&source) => Ok(false),
            Ok(Err(TryLockError::Error(source))) => Err(source).named("lock", path),
        }
    }

    /// The lock at `path`; `None` when somebody else holds it.
    pub(crate) fn try_acquire(path: &Path) -> Result<Option<Self>, Error> {
        create_folder(path.parent().unwrap_or(path))?;
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).named("open", path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) if has_no_locks(&source) => {}
            Err(TryLockError::Error(source)) => return Err(source).named("lock", path),
        }
        // In place, since a crash must leave nothing beside it. Who reads half of it, or nothing because the disk is full, is told "another process".
        let _ = std::fs::write(holder_of(path), Holder::this().to_string());
        Ok(Some(Self { _file: file }))
    }

    /// Waits for the lock at `path`, telling who holds it and what that one is doing; `None` after Ctrl-C.
    pub(crate) fn acquire(path: &Path, doing: &str, ui: &Ui) -> Result<Option<Self>, Error> {
        let mut has_said = false;
        loop {
            if let Some(lock) = Self::try_acquire(path)? {
                return Ok(Some(lock));
            }
            if !has_said {
                let holder = std::fs::read_to_string(holder_of(path)).unwrap_or_default();
                let holder = if holder.is_empty() { "another process" } else { holder.trim() };
                ui.info(&format!("waiting for {holder}, which is {doing}"));
                has_said = true;
            }
            if interrupted() {
                return Ok(None);
            }
            std::thread::sleep(POLL);
        }
    }
}

/// Some network file systems know no locks; cargo works on them without as well.
fn has_no_locks(error: &std::io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error()) {
        return true;
    }
    error.kind() == std::io::ErrorKind::Unsupported
}

/// Beside the lock, since Windows lets nobody read a file that is locked.
fn holder_of(lock: &Path) -> PathBuf {
    lock.with_extension("holder")
}

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Holder {
    process: u32,
    host: String,
    /// RFC 3339, UTC.
    since: String,
}

impl Holder {
    fn this() -> Self {
        let host = gethostname::gethostname().to_string_lossy().into_owned();
        Self { process: std::process::id(), host, since: crate::clock::now() }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {} since {}", self.process, self.host, self.since)
    }
}
