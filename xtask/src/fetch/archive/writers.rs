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

/// As many bytes are handed over at once; an allocation of this size costs no system call.
pub(super) const CHUNK: usize = 64 << 10;
/// Messages that wait for a thread: 4 MiB.
const DEPTH: usize = 64;
/// Creating files is mostly the kernel's work; more threads than this wait for each other there.
const MOST: usize = 4;

/// The threads, each of which makes whole files.
pub(super) struct Writers {
    lanes: Vec<Lane>,
    turn: usize,
}

struct Lane {
    /// `None` once the thread was asked to end.
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<Result<Vec<Entry>, Refusal>>>,
}

enum Message {
    /// A new file, its first bytes, and whether they are all.
    Begin {
        path: String,
        executable: bool,
        bytes: Vec<u8>,
        is_all: bool,
    },
    More(Vec<u8>),
    End,
}

impl Writers {
    /// Files go below `root`.
    pub(super) fn new(root: &Path) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let lane = |_| {
            let (sender, messages) = sync_channel(DEPTH);
            let root = root.to_owned();
            let thread = std::thread::spawn(move || write_files(&root, &messages));
            Lane { sender: Some(sender), thread: Some(thread) }
        };
        Self { lanes: (0..cores.min(MOST)).map(lane).collect(), turn: 0 }
    }

    /// Makes one file of what `next` gives until it gives less than [`CHUNK`]: small files, which are most, are one message.
    pub(super) fn write(
        &mut self,
        path: &str,
        executable: bool,
        mut next: impl FnMut() -> Result<Vec<u8>, Refusal>,
    ) -> Result<(), Refusal> {
        self.turn = (self.turn + 1) % self.lanes.len();
        let turn = self.turn;
        let (path, bytes) = (path.to_owned(), next()?);
        let mut is_all = bytes.len() < CHUNK;
        self.send(turn, Message::Begin { path, executable, bytes, is_all })?;
        while !is_all {
            let bytes = next()?;
            is_all = bytes.len() < CHUNK;
            self.send(turn, Message::More(bytes))?;
            if is_all {
                self.send(turn, Message::End)?;
            }
        }
        Ok(())
    }

    /// Every file that was written, when all are on the disk.
    pub(super) fn finish(&mut self) -> Result<Vec<Entry>, Refusal> {
        let mut entries = Vec::new();
        for lane in &mut self.lanes {
            entries.extend(lane.join()?);
        }
        Ok(entries)
    }

    /// A thread that has ended before it was asked to has a reason.
    fn send(&mut self, turn: usize, message: Message) -> Result<(), Refusal> {
        let lane = &mut self.lanes[turn];
        let is_sent = lane.sender.as_ref().is_some_and(|sender| sender.send(message).is_ok());
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
fn write_files(root: &Path, messages: &Receiver<Message>) -> Result<Vec<Entry>, Refusal> {
    let mut entries = Vec::new();
    let mut open: Option<Open> = None;
    for message in messages {
        match message {
            Message::Begin { path, executable, bytes, is_all } => {
                let mut file = Open::create(root, path, executable)?;
                file.write(&bytes)?;
                match is_all {
                    true => entries.push(file.entry()),
                    false => open = Some(file),
                }
            }
            Message::More(bytes) => open.iter_mut().try_for_each(|file| file.write(&bytes))?,
            Message::End => entries.extend(open.take().map(Open::entry)),
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
    fn create(root: &Path, path: String, executable: bool) -> Result<Self, Refusal> {
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
