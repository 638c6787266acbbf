//! One pass: bytes come in on one thread, are hashed on a second and unpacked on a third, so nothing is read twice.

use super::Error;
use super::archive::{Format, Refusal, TreeWriter, unpack_stream, unpack_zip};
use super::feed::{Chunk, Feed};
use crate::digest::{Hasher, Sha256};
use crate::lock::Archive;
use crate::ui::{Bar, interrupted};
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, sync_channel};

/// Chunks that wait for a slower thread: 2 MiB on each way.
const DEPTH: usize = 8;

/// Reads `feed` to its end, unpacks it into `tree` and compares it with what the lock says of `archive`.
///
/// Nothing in `tree` may be used when this fails.
pub(super) fn receive(
    feed: &mut dyn Feed,
    archive: &Archive,
    tree: &mut TreeWriter,
    bar: &Bar,
) -> Result<(), Error> {
    let what = archive.label();
    let refused = |source: Refusal| Error::Archive { what: what.clone(), source };
    let format = Format::of_name(&archive.file).map_err(refused)?;
    if format == Format::Zip {
        // A zip's directory is at its end: the file has to be whole and right first.
        let arrived = pump(feed, archive, bar, |mut chunks| io::copy(&mut chunks, &mut io::sink()))?;
        arrived.check(archive)?;
        let path = feed.file().to_owned();
        let file = File::open(&path).map_err(|source| Error::Io { verb: "open", path, source })?;
        return unpack_zip(file, tree).map_err(refused);
    }
    let arrived = pump(feed, archive, bar, |chunks| unpack_stream(format, chunks, tree))?;
    // Wrong bytes explain a broken archive, so the hash speaks first.
    arrived.check(archive)?;
    arrived.result.map_err(refused)
}

/// Reads `feed` to its end and compares it with what the lock says of `archive`.
pub(super) fn check(feed: &mut dyn Feed, archive: &Archive, bar: &Bar) -> Result<(), Error> {
    pump(feed, archive, bar, |mut chunks| io::copy(&mut chunks, &mut io::sink()))?.check(archive)
}

/// What came, and what the consumer made of it.
struct Arrived<T> {
    result: T,
    digest: Sha256,
    length: u64,
}

impl<T> Arrived<T> {
    fn check(&self, archive: &Archive) -> Result<(), Error> {
        let what = archive.label();
        if let Some(expected) = archive.size.filter(|size| *size != self.length) {
            return Err(Error::Size { what, expected, actual: self.length });
        }
        if self.digest != archive.sha256 {
            let (expected, actual) = (archive.sha256, self.digest);
            return Err(Error::Hash { what, expected, actual, length: self.length });
        }
        Ok(())
    }
}

/// Moves every byte of `feed` to the hash and to `consume`, which may stop early.
fn pump<T: Send>(
    feed: &mut dyn Feed,
    archive: &Archive,
    bar: &Bar,
    consume: impl FnOnce(ChunkReader) -> T + Send,
) -> Result<Arrived<T>, Error> {
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
        while let Some(chunk) = feed.next()? {
            if interrupted() {
                return Err(Error::Interrupted);
            }
            got += chunk.len() as u64;
            if let Some(expected) = archive.size.filter(|size| got > *size) {
                return Err(Error::Size { what: archive.label(), expected, actual: got });
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
        Ok(Arrived { result: joined(consuming.join()), digest, length })
    })
}

fn joined<T>(result: std::thread::Result<T>) -> T {
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The chunks of a queue as one stream.
pub(super) struct ChunkReader {
    queue: Receiver<Chunk>,
    current: Chunk,
    at: usize,
}

impl ChunkReader {
    fn new(queue: Receiver<Chunk>) -> Self {
        Self { queue, current: Chunk::from([]), at: 0 }
    }
}

impl Read for ChunkReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buffer)?;
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for ChunkReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.current.len() {
            match self.queue.recv() {
                Ok(chunk) => (self.current, self.at) = (chunk, 0),
                Err(_) => return Ok(&[]),
            }
        }
        Ok(&self.current[self.at..])
    }

    fn consume(&mut self, n: usize) {
        self.at += n;
    }
}
