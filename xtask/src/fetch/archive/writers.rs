//! Files are made and hashed on threads of their own, while the next ones are still being inflated.

use super::Refusal;
use crate::digest::Hasher;
use crate::files;
use crate::store::{Entry, Kind};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// A file comes in pieces of this size; an allocation of it costs no system call.
pub(super) const CHUNK: usize = 64 << 10;
/// As many bytes are handed over at once, of one file or of many: to wake a thread for each small file costs a tenth of the time.
const BATCH: usize = 256 << 10;
/// What a file costs beside its bytes, so that a batch of empty ones has an end.
const PER_FILE: usize = 1 << 10;
/// Batches that wait for a thread.
const DEPTH: usize = 8;
/// Creating files is mostly the kernel's work; more threads than this wait for each other there.
const MOST: usize = 4;

/// The threads, each of which makes whole files.
pub(super) struct Writers {
    lanes: Vec<Lane>,
    /// The lane that `batch` is for, which has the file that is open.
    turn: usize,
    batch: Vec<Piece>,
    batch_bytes: usize,
}

struct Lane {
    /// `None` once the thread was asked to end.
    sender: Option<SyncSender<Vec<Piece>>>,
    thread: Option<JoinHandle<Result<Vec<Entry>, Refusal>>>,
}

/// Bytes of a file; pieces of one file come one after the other.
struct Piece {
    /// The file that begins with it.
    begins: Option<Name>,
    bytes: Vec<u8>,
    is_last: bool,
}

struct Name {
    path: String,
    executable: bool,
}

impl Writers {
    /// Files go below `root`.
    pub(super) fn new(root: &Path) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let lane = |_| {
            let (sender, batches) = sync_channel(DEPTH);
            let root = root.to_owned();
            let thread = std::thread::spawn(move || write_files(&root, &batches));
            Lane { sender: Some(sender), thread: Some(thread) }
        };
        let lanes = (0..cores.min(MOST)).map(lane).collect();
        Self { lanes, turn: 0, batch: Vec::new(), batch_bytes: 0 }
    }

    /// Makes one file of what `next` gives until it gives less than [`CHUNK`].
    pub(super) fn write(
        &mut self,
        path: &str,
        executable: bool,
        mut next: impl FnMut() -> Result<Vec<u8>, Refusal>,
    ) -> Result<(), Refusal> {
        let mut begins = Some(Name { path: path.to_owned(), executable });
        loop {
            let bytes = next()?;
            let is_last = bytes.len() < CHUNK;
            self.batch_bytes += bytes.len() + PER_FILE;
            self.batch.push(Piece { begins: begins.take(), bytes, is_last });
            if self.batch_bytes >= BATCH {
                self.send()?;
                // The next lane's turn comes between two files.
                self.turn = (self.turn + usize::from(is_last)) % self.lanes.len();
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Every file that was written, when all are on the disk.
    pub(super) fn finish(&mut self) -> Result<Vec<Entry>, Refusal> {
        self.send()?;
        let mut entries = Vec::new();
        for lane in &mut self.lanes {
            entries.extend(lane.join()?);
        }
        Ok(entries)
    }

    /// A thread that has ended before it was asked to has a reason.
    fn send(&mut self) -> Result<(), Refusal> {
        self.batch_bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        let lane = &mut self.lanes[self.turn];
        let is_sent = lane.sender.as_ref().is_some_and(|sender| sender.send(batch).is_ok());
        if is_sent { Ok(()) } else { lane.join().map(drop) }
    }
}

impl Lane {
    fn join(&mut self) -> Result<Vec<Entry>, Refusal> {
        self.sender = None;
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(Vec::new()),
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Writers {
    /// Nothing is written any more when this has returned: the folder is removed next.
    fn drop(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.sender = None);
        for thread in self.lanes.iter_mut().filter_map(|lane| lane.thread.take()) {
            let _ = thread.join();
        }
    }
}

/// Makes the files of one lane until its sender is gone.
fn write_files(root: &Path, batches: &Receiver<Vec<Piece>>) -> Result<Vec<Entry>, Refusal> {
    let mut entries = Vec::new();
    let mut open: Option<Open> = None;
    for piece in batches.iter().flatten() {
        if let Some(name) = piece.begins {
            open = Some(Open::create(root, name)?);
        }
        open.iter_mut().try_for_each(|file| file.write(&piece.bytes))?;
        if piece.is_last {
            entries.extend(open.take().map(Open::entry));
        }
    }
    Ok(entries)
}

/// A file that is being written.
struct Open {
    path: String,
    full: PathBuf,
    executable: bool,
    file: File,
    hasher: Hasher,
}

impl Open {
    fn create(root: &Path, Name { path, executable }: Name) -> Result<Self, Refusal> {
        files::step();
        let full = root.join(&path);
        match create(&full, executable) {
            Ok(file) => Ok(Self { path, full, executable, file, hasher: Hasher::new() }),
            Err(source) => Err(Refusal::Write { verb: "create", path: full, source }),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.hasher.update(bytes);
        let failed = |source| Refusal::Write { verb: "write", path: self.full.clone(), source };
        self.file.write_all(bytes).map_err(failed)
    }

    fn entry(self) -> Entry {
        let (sha256, size) = self.hasher.finish();
        Entry { path: self.path, kind: Kind::File { size, sha256, executable: self.executable } }
    }
}

/// Opens a new file that only its maker can write; never follows or replaces what is there.
fn create(path: &Path, executable: bool) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if executable { 0o555 } else { 0o444 });
    #[cfg(not(unix))]
    let _ = executable;
    options.open(path)
}
