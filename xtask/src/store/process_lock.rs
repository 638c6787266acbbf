//! One lock per key, so that two processes never make one entry at the same time.

use super::Error;
use crate::files::{self, Named};
use crate::ui::{Ui, interrupted};
use std::fmt;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Holds the lock until it is dropped. The file stays: to delete a lock file is a race.
#[derive(Debug)]
pub(super) struct ProcessLock {
    _file: File,
}

const POLL: Duration = Duration::from_millis(100);

impl ProcessLock {
    /// Whether somebody holds the lock at `path`.
    pub(super) fn is_held(path: &Path) -> Result<bool, files::Error> {
        match File::open(path) {
            Err(_) => Ok(false),
            Ok(file) => match file.try_lock() {
                Ok(()) => Ok(false),
                Err(TryLockError::WouldBlock) => Ok(true),
                Err(TryLockError::Error(source)) => Err(source).named("lock", path),
            },
        }
    }

    /// Waits for the lock at `path`, telling who holds it.
    pub(super) fn acquire(path: &Path, what: &str, ui: &Ui) -> Result<Self, Error> {
        if let Some(folder) = path.parent() {
            files::create_folder(folder)?;
        }
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).named("open", path)?;
        let mut has_said = false;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(source)) => {
                    return Err(source).named("lock", path).map_err(Error::from);
                }
                Err(TryLockError::WouldBlock) => {}
            }
            if !has_said {
                let holder = std::fs::read_to_string(holder_of(path)).unwrap_or_default();
                let holder = if holder.is_empty() { "another process" } else { holder.trim() };
                ui.info(&format!("waiting for {holder}, which is installing {what}"));
                has_said = true;
            }
            if interrupted() {
                return Err(Error::Interrupted);
            }
            std::thread::sleep(POLL);
        }
        // In place, since a crash must leave nothing beside it: who reads it half-written is told "another process".
        let holder = holder_of(path);
        std::fs::write(&holder, Holder::this().to_string()).named("write", &holder)?;
        Ok(Self { _file: file })
    }
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
