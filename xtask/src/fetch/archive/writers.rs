//! Files are made and hashed on threads of their own, while the next ones are still being inflated.

use super::Refusal;
use crate::digest::Hasher;
use crate::files;
use crate::store::{Entry, Kind};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// A file comes in pieces of this size.
const CHUNK: usize = 64 << 10;
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
    batch: Batch,
    /// Batches that were written, to be filled again.
    written: Receiver<Batch>,
}

struct Lane {
    /// `None` once the thread was asked to end.
    sender: Option<SyncSender<Batch>>,
    thread: Option<JoinHandle<Result<Vec<Entry>, Refusal>>>,
}

/// What is handed over at once.
struct Batch {
    pieces: Vec<Piece>,
    /// The bytes of all pieces, one after the other, and room for one more.
    bytes: Box<[u8]>,
    used: usize,
}

impl Batch {
    fn new() -> Self {
        Self { pieces: Vec::new(), bytes: vec![0; BATCH + CHUNK].into(), used: 0 }
    }

    fn is_full(&self) -> bool {
        self.used + self.pieces.len() * PER_FILE >= BATCH
    }
}

/// Bytes of a file; pieces of one file come one after the other.
struct Piece {
    /// The file that begins with it.
    begins: Option<Name>,
    length: usize,
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
        let (give_back, written) = channel();
        let lane = |_| {
            let (sender, batches) = sync_channel(DEPTH);
            let (root, give_back) = (root.to_owned(), give_back.clone());
            let thread = std::thread::spawn(move || write_files(&root, &batches, &give_back));
            Lane { sender: Some(sender), thread: Some(thread) }
        };
        let lanes = (0..cores.min(MOST)).map(lane).collect();
        Self { lanes, turn: 0, batch: Batch::new(), written }
    }

    /// Makes one file of what `fill` puts into buffers until one is not filled.
    pub(super) fn write(
        &mut self,
        path: &str,
        executable: bool,
        mut fill: impl FnMut(&mut [u8]) -> Result<usize, Refusal>,
    ) -> Result<(), Refusal> {
        let mut begins = Some(Name { path: path.to_owned(), executable });
        loop {
            let used = self.batch.used;
            let length = fill(&mut self.batch.bytes[used..used + CHUNK])?;
            let is_last = length < CHUNK;
            self.batch.used += length;
            self.batch.pieces.push(Piece { begins: begins.take(), length, is_last });
            if self.batch.is_full() {
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
        let empty = self.written.try_recv().unwrap_or_else(|_| Batch::new());
        let batch = std::mem::replace(&mut self.batch, empty);
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
fn write_files(
    root: &Path,
    batches: &Receiver<Batch>,
    give_back: &Sender<Batch>,
) -> Result<Vec<Entry>, Refusal> {
    let mut entries = Vec::new();
    let mut open: Option<Open> = None;
    for mut batch in batches {
        let mut rest = &batch.bytes[..batch.used];
        for piece in batch.pieces.drain(..) {
            let (bytes, others) = rest.split_at(piece.length);
            rest = others;
            if let Some(name) = piece.begins {
                open = Some(Open::create(root, name)?);
            }
            open.iter_mut().try_for_each(|file| file.write(bytes))?;
            if piece.is_last {
                entries.extend(open.take().map(Open::entry));
            }
        }
        batch.used = 0;
        // Nobody takes it when everything was handed over.
        let _ = give_back.send(batch);
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
