//! One lock per key, so that two processes never make one entry at the same time.

use super::Error;
use crate::files::{self, Named};
use crate::ui::{Ui, interrupted};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
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
        let mut file = options.open(path).named("open", path)?;
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
                let mut holder = String::new();
                let _ = file.rewind().and_then(|()| file.read_to_string(&mut holder));
                let holder = if holder.is_empty() { "another process" } else { holder.trim() };
                ui.info(&format!("waiting for {holder}, which is installing {what}"));
                has_said = true;
            }
            if interrupted() {
                return Err(Error::Interrupted);
            }
            std::thread::sleep(POLL);
        }
        let holder = format!("process {}\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(holder.as_bytes()))
            .named("write", path)?;
        Ok(Self { _file: file })
    }
}
