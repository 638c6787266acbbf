//! One pass: bytes come in on one thread, are hashed on a second and unpacked on a third, so nothing is read twice.

use super::Error;
use super::archive::{Format, TreeWriter, unpack_stream, unpack_zip};
use super::channel::Opened;
use crate::digest::{Hasher, Sha256};
use crate::lock::Archive;
use crate::ui::{Bar, interrupted};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

const CHUNK: usize = 256 << 10;
/// Chunks that wait for a slower thread: 2 MiB on each way.
const DEPTH: usize = 8;
const STALL: Duration = Duration::from_secs(60);
/// How often a waiting download looks for Ctrl-C.
const POLL: Duration = Duration::from_millis(100);

type Chunk = Arc<[u8]>;

/// Reads what was opened to its end, unpacks it into `tree` and compares it with what the lock says of `archive`.
///
/// Nothing in `tree` may be used when this fails. `scratch` is the place for an archive that cannot be unpacked as it comes (zip).
pub(super) fn receive(
    opened: Opened,
    archive: &Archive,
    tree: &mut TreeWriter,
    scratch: &Path,
    bar: &Bar,
) -> Result<(), Error> {
    let what = archive.label();
    let format =
        Format::of_name(&archive.file).map_err(|source| Error::Archive { what: what.clone(), source })?;
    let arrived = match format {
        Format::Zip => {
            // A zip's directory is at its end, so the file has to be whole first.
            let path = opened.local.clone().unwrap_or_else(|| scratch.join(&archive.file));
            let is_local = opened.local.is_some();
            let keep = |mut chunks: ChunkReader| match is_local {
                true => io::copy(&mut chunks, &mut io::sink()).map(drop),
                false => File::create(&path).and_then(|mut file| io::copy(&mut chunks, &mut file).map(drop)),
            };
            let arrived = pump(opened.reader, archive, bar, keep)?;
            arrived.check(archive)?;
            let failed = |source| Error::Io { verb: "write", path: path.clone(), source };
            arrived.result.map_err(failed)?;
            let file = File::open(&path).map_err(failed)?;
            return unpack_zip(file, tree).map_err(|source| Error::Archive { what, source });
        }
        _ => pump(opened.reader, archive, bar, |chunks| unpack_stream(format, chunks, tree))?,
    };
    // Wrong bytes explain a broken archive, so the hash speaks first.
    arrived.check(archive)?;
    arrived.result.map_err(|source| Error::Archive { what, source })
}

/// What came, and what the consumer made of it.
struct Arrived<T> {
    result: T,
    digest: Sha256,
    length: u64,
    looks_like_html: bool,
}

impl<T> Arrived<T> {
    fn check(&self, archive: &Archive) -> Result<(), Error> {
        let (what, looks_like_html) = (archive.label(), self.looks_like_html);
        if let Some(expected) = archive.size.filter(|size| *size != self.length) {
            return Err(Error::Size { what, expected, actual: self.length, looks_like_html });
        }
        if self.digest != archive.sha256 {
            let (expected, actual) = (archive.sha256, self.digest);
            return Err(Error::Hash { what, expected, actual, length: self.length, looks_like_html });
        }
        Ok(())
    }
}

/// Moves every byte of `reader` to the hash and to `consume`, which may stop early.
fn pump<T: Send>(
    reader: Box<dyn Read + Send>,
    archive: &Archive,
    bar: &Bar,
    consume: impl FnOnce(ChunkReader) -> T + Send,
) -> Result<Arrived<T>, Error> {
    let incoming = spawn_reader(reader);
    std::thread::scope(|scope| {
        let (to_hash, hash_queue) = sync_channel::<Chunk>(DEPTH);
        let (to_consumer, queue) = sync_channel::<Chunk>(DEPTH);
        let hashing = scope.spawn(move || {
            let mut hasher = Hasher::new();
            hash_queue.iter().for_each(|chunk| hasher.update(&chunk));
            hasher.finish()
        });
        let consuming = scope.spawn(move || consume(ChunkReader::new(queue)));
        let mut to_consumer = Some(to_consumer);
        let mut got = 0;
        let mut looks_like_html = false;
        let mut last = Instant::now();
        loop {
            if interrupted() {
                return Err(Error::Interrupted);
            }
            let chunk = match incoming.recv_timeout(POLL) {
                Ok(Ok(chunk)) => chunk,
                Ok(Err(error)) => {
                    return Err(Error::Broken { what: archive.label(), got, reason: error.to_string() });
                }
                Err(RecvTimeoutError::Timeout) if last.elapsed() < STALL => continue,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Error::Stalled { what: archive.label(), got, seconds: STALL.as_secs() });
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            last = Instant::now();
            if got == 0 {
                looks_like_html = is_html(&chunk);
            }
            got += chunk.len() as u64;
            if let Some(expected) = archive.size.filter(|size| got > *size) {
                return Err(Error::Size { what: archive.label(), expected, actual: got, looks_like_html });
            }
            bar.advance(chunk.len() as u64);
            // A consumer that has stopped has its reason, which counts only if the hash is right: the rest is still hashed.
            if to_consumer.as_ref().is_some_and(|queue| queue.send(chunk.clone()).is_err()) {
                to_consumer = None;
            }
            if to_hash.send(chunk).is_err() {
                break;
            }
        }
        drop((to_hash, to_consumer));
        let (digest, length) = joined(hashing.join());
        Ok(Arrived { result: joined(consuming.join()), digest, length, looks_like_html })
    })
}

fn joined<T>(result: std::thread::Result<T>) -> T {
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Reads on a thread of its own that nobody waits for: a socket that hangs must not hang the program.
fn spawn_reader(mut reader: Box<dyn Read + Send>) -> Receiver<io::Result<Chunk>> {
    let (sender, receiver) = sync_channel(DEPTH);
    let mut forward = move |sender: SyncSender<io::Result<Chunk>>| {
        let mut buffer = vec![0; CHUNK];
        loop {
            let message = match reader.read(&mut buffer) {
                Ok(0) => return,
                Ok(n) => Ok(Chunk::from(&buffer[..n])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let is_end = message.is_err();
            if sender.send(message).is_err() || is_end {
                return;
            }
        }
    };
    std::thread::spawn(move || forward(sender));
    receiver
}

fn is_html(chunk: &[u8]) -> bool {
    let start = chunk.trim_ascii_start();
    let begins = |text: &[u8]| start.len() >= text.len() && start[..text.len()].eq_ignore_ascii_case(text);
    begins(b"<!doctype html") || begins(b"<html")
}

/// The chunks of a queue as one stream.
pub(super) struct ChunkReader {
    queue: Receiver<Chunk>,
    current: Chunk,
    at: usize,
}

impl ChunkReader {
    fn new(queue: Receiver<Chunk>) -> Self {
        Self { queue, current: Arc::from([]), at: 0 }
    }
}

impl Read for ChunkReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.current.len() {
            match self.queue.recv() {
                Ok(chunk) => (self.current, self.at) = (chunk, 0),
                Err(_) => return Ok(0),
            }
        }
        let rest = &self.current[self.at..];
        let n = rest.len().min(buffer.len());
        buffer[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }
}
