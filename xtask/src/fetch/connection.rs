//! One transfer that may hang, break or end early, read so that the program never hangs with it.

use super::Error;
use super::feed::{CHUNK, Chunk};
use crate::ui::interrupted;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Chunks that wait in memory.
const DEPTH: usize = 8;
/// How often whoever waits for a download looks for Ctrl-C.
pub(super) const POLL: Duration = Duration::from_millis(100);

/// The body of an answer.
pub(super) struct Connection {
    chunks: Receiver<io::Result<Chunk>>,
    stall: Duration,
}

/// What the errors of a connection say of the download.
#[derive(Clone, Copy)]
pub(super) struct Progress<'a> {
    /// Address or name.
    pub(super) what: &'a str,
    /// Bytes that are there.
    pub(super) got: u64,
    /// Bytes that there have to be, where that is known.
    pub(super) expected: Option<u64>,
}

impl Connection {
    /// Reads on a thread of its own that nobody waits for.
    pub(super) fn new(mut reader: Box<dyn Read + Send>, stall: Duration) -> Self {
        let (sender, chunks) = sync_channel(DEPTH);
        std::thread::spawn(move || {
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
        });
        Self { chunks, stall }
    }

    /// The next bytes, or why there are none. `is_over` tells that nobody wants them any more.
    pub(super) fn receive(
        &self,
        progress: Progress,
        is_over: impl Fn() -> bool,
    ) -> Result<Option<Chunk>, Error> {
        let Progress { got, expected, .. } = progress;
        let what = || progress.what.to_owned();
        let start = Instant::now();
        loop {
            if interrupted() || is_over() {
                return Err(Error::Interrupted);
            }
            match self.chunks.recv_timeout(POLL.min(self.stall)) {
                Ok(Ok(chunk)) => return Ok(Some(chunk)),
                Ok(Err(error)) => {
                    return Err(Error::Broken { what: what(), got, reason: error.to_string() });
                }
                Err(RecvTimeoutError::Timeout) if start.elapsed() < self.stall => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Error::Stalled { what: what(), got, seconds: self.stall.as_secs() });
                }
                Err(RecvTimeoutError::Disconnected) if expected.is_some_and(|size| got < size) => {
                    let reason = "the server ended the transfer early".into();
                    return Err(Error::Broken { what: what(), got, reason });
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}
