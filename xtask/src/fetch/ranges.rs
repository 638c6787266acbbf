//! One archive over several connections, passed on in order while it comes.
//!
//! Each request brings one piece into a file of its own, whose length says how much of it is there, so a killed process loses nothing. The front
//! piece is moved into the partial file as it is passed on. Whatever a server does that pieces cannot bear ends in one plain connection for the
//! rest.

use super::connection::{Connection, POLL, Progress};
use super::feed::{CHUNK, Chunk, Feed, HttpFeed, LocalFeed, refuse_page};
use super::http::{self, Answer, Refused, Wanted};
use super::partial::{Origin, Partial};
use super::pieces::{self, Piece};
use super::retry::Retry;
use super::{Error, Timing};
use crate::files::Named;
use crate::lock::Archive;
use crate::ui::{Ui, interrupted};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Smaller archives come over one connection unless the user asks for more.
const WORTH_IT: u64 = 256 << 20;
/// What is used then: servers count connections, and four fill most lines.
const DEFAULT: u64 = 4;

/// How many connections an archive gets.
pub(super) fn connections(asked: Option<u64>, size: Option<u64>) -> u64 {
    match (asked, size) {
        (_, None) => 1,
        (Some(asked), Some(_)) => asked.max(1),
        (None, Some(size)) if size >= WORTH_IT => DEFAULT,
        (None, Some(_)) => 1,
    }
}

/// A download in pieces.
pub(super) struct RangesFeed<'a> {
    archive: &'a Archive,
    size: u64,
    /// `None` once a plain connection has taken over.
    partial: Option<Partial>,
    plain: Option<HttpFeed<'a>>,
    /// Bytes of an earlier run, while they are read back.
    prefix: Option<LocalFeed>,
    resumed: bool,
    worker: Worker,
    retry: Retry,
    timing: Timing,
    ui: &'a Ui,
}

impl<'a> RangesFeed<'a> {
    /// Asks for the first missing piece of `archive`; `None` when one plain connection is better or all that the server allows.
    pub(super) fn open(
        url: &str,
        archive: &'a Archive,
        partials: &Path,
        timing: Timing,
        ui: &'a Ui,
    ) -> Result<Option<Self>, Error> {
        let Some(size) = archive.size else { return Ok(None) };
        let connections = connections(timing.connections, archive.size);
        let mut partial = Partial::open(partials, archive.sha256, archive.size)?;
        let kept = pieces::kept(partials, archive.sha256);
        let pieces = pieces::plan(partial.length(), size, connections, &kept);
        if kept.is_empty() && (connections < 2 || pieces.len() < 2) {
            return Ok(None);
        }
        let origin = partial.origin().filter(|origin| origin.is_of(url));
        let validator = origin.and_then(|origin| origin.validator.clone());
        let first = pieces.iter().position(|piece| !piece.is_whole());
        let mut worker = Worker::new(url, archive, partials, size, validator, pieces, timing.stall);
        if let Some(index) = first {
            let Some(piece) = worker.shared.take() else { return Ok(None) };
            debug_assert_eq!(piece.0, index);
            let Ok(answer) = worker.ask(piece.1) else { return Ok(None) };
            worker.validator.clone_from(&answer.validator);
            partial.set_origin(Origin::of(url, answer.validator.clone()))?;
            worker.spawn(Some((index, answer)));
            (1..connections).for_each(|_| worker.spawn(None));
        }
        Ok(Some(Self {
            archive,
            size,
            resumed: partial.length() > 0 || !kept.is_empty(),
            prefix: (partial.length() > 0).then(|| LocalFeed::open(partial.path().to_owned())).transpose()?,
            partial: Some(partial),
            plain: None,
            worker,
            retry: Retry::new(timing.retry_scale),
            timing,
            ui,
        }))
    }

    /// The bytes that come next, moved from their piece into the partial file.
    fn pass_on(&mut self, piece: Piece, partial: &mut Partial) -> Result<Chunk, Error> {
        let at = partial.length();
        let path = self.worker.path(piece);
        let length = usize::try_from(piece.next() - at).unwrap_or(CHUNK).min(CHUNK);
        let mut bytes = vec![0; length];
        File::open(&path)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(at - piece.start))?;
                file.read_exact(&mut bytes)
            })
            .named("read", &path)?;
        if at == 0 {
            refuse_page(self.archive, &bytes)?;
        }
        partial.append(&bytes)?;
        if partial.length() == piece.end {
            crate::files::remove_tree(&path)?;
        }
        Ok(Chunk::from(bytes))
    }

    /// Gives up on pieces: one connection brings the rest.
    fn go_on_plainly(&mut self, partial: Partial) -> Result<Option<Chunk>, Error> {
        self.ui.info("the server does not send the archive in pieces; one connection goes on");
        self.worker.shared.end();
        pieces::forget(&self.worker.partials, self.archive.sha256)?;
        let plain = HttpFeed::take_over(&self.worker.url, self.archive, partial, self.timing, self.ui)?;
        self.plain.insert(plain).next()
    }

    fn wait_and_pass_on(&mut self, mut partial: Partial) -> Result<Option<Chunk>, Error> {
        loop {
            let at = partial.length();
            match self.worker.shared.look(at) {
                Look::There(piece) => {
                    let chunk = self.pass_on(piece, &mut partial);
                    self.partial = Some(partial);
                    return chunk.map(Some);
                }
                Look::Lost => return self.go_on_plainly(partial),
                Look::Failed(Refused { error, retry_after, .. }, got) => {
                    if let Err(error) = self.retry.wait(error, at + got, retry_after, self.ui) {
                        self.partial = Some(partial);
                        return Err(error);
                    }
                    self.worker.spawn(None);
                }
                Look::Nothing if interrupted() => {
                    self.partial = Some(partial);
                    return Err(Error::Interrupted);
                }
                Look::Nothing => {}
            }
        }
    }
}

impl Feed for RangesFeed<'_> {
    fn next(&mut self) -> Result<Option<Chunk>, Error> {
        if let Some(prefix) = &mut self.prefix {
            if let Some(chunk) = prefix.next()? {
                return Ok(Some(chunk));
            }
            self.prefix = None;
        }
        match (self.partial.take(), &mut self.plain) {
            (Some(partial), _) if partial.length() == self.size => {
                self.partial = Some(partial);
                Ok(None)
            }
            (Some(partial), _) => self.wait_and_pass_on(partial),
            (None, Some(plain)) => plain.next(),
            (None, None) => Ok(None),
        }
    }

    fn file(&self) -> &Path {
        match (&self.partial, &self.plain) {
            (Some(partial), _) => partial.path(),
            (None, Some(plain)) => plain.file(),
            (None, None) => &self.worker.partials,
        }
    }

    fn was_resumed(&self) -> bool {
        self.resumed
    }

    fn reject(mut self: Box<Self>) -> Result<(), Error> {
        self.worker.shared.end();
        pieces::forget(&self.worker.partials, self.archive.sha256)?;
        match (self.partial.take(), self.plain.take()) {
            (Some(partial), _) => Ok(partial.quarantine()?),
            (None, Some(plain)) => Box::new(plain).reject(),
            (None, None) => Ok(()),
        }
    }
}

impl Drop for RangesFeed<'_> {
    fn drop(&mut self) {
        self.worker.shared.end();
    }
}

/// What the connections and the reader have in common.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    pieces: Vec<Piece>,
    /// Which pieces a connection is working at.
    busy: Vec<bool>,
    failures: Vec<Refused>,
    /// The server does not play along.
    is_lost: bool,
    /// Nobody wants the bytes any more, so nobody writes any.
    is_over: bool,
}

/// What the reader sees.
enum Look {
    There(Piece),
    /// And how many bytes the pieces have in all, which tells progress.
    Failed(Refused, u64),
    Lost,
    Nothing,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.lock().is_over = true;
    }

    fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// The first piece that is neither whole nor being worked at.
    fn take(&self) -> Option<(usize, Piece)> {
        let mut state = self.lock();
        let free = |index: &usize| !state.busy[*index] && !state.pieces[*index].is_whole();
        let index = (0..state.pieces.len()).find(free).filter(|_| !state.is_over)?;
        state.busy[index] = true;
        Some((index, state.pieces[index]))
    }

    /// What there is at byte `at`; waits a moment when that is nothing.
    fn look(&self, at: u64) -> Look {
        let mut state = self.lock();
        if state.is_lost {
            return Look::Lost;
        }
        if let Some(refused) = state.failures.pop() {
            return Look::Failed(refused, state.pieces.iter().map(|piece| piece.have).sum());
        }
        if let Some(piece) = state.pieces.iter().find(|piece| piece.start <= at && at < piece.next()) {
            return Look::There(*piece);
        }
        drop(self.changed.wait_timeout(state, POLL));
        Look::Nothing
    }
}

/// Brings pieces until there are none left.
#[derive(Clone)]
struct Worker {
    url: String,
    label: String,
    sha256: crate::digest::Sha256,
    partials: PathBuf,
    size: u64,
    /// Of the file that all pieces have to be of.
    validator: Option<String>,
    stall: Duration,
    shared: Arc<Shared>,
}

/// Why a piece did not come.
enum Trouble {
    /// No ranges, or those of another file.
    Lost,
    Refused(Refused),
    Over,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted => Trouble::Over,
            error => Trouble::Refused(error.into()),
        }
    }
}

impl Worker {
    fn new(
        url: &str,
        archive: &Archive,
        partials: &Path,
        size: u64,
        validator: Option<String>,
        pieces: Vec<Piece>,
        stall: Duration,
    ) -> Self {
        let busy = vec![false; pieces.len()];
        let state = State { pieces, busy, failures: Vec::new(), is_lost: false, is_over: false };
        Self {
            url: url.to_owned(),
            label: archive.label(),
            sha256: archive.sha256,
            partials: partials.to_owned(),
            size,
            validator,
            stall,
            shared: Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }),
        }
    }

    fn path(&self, piece: Piece) -> PathBuf {
        pieces::path(&self.partials, self.sha256, piece.start)
    }

    /// Starts a connection on a thread that nobody waits for: a socket that hangs must not hang the program.
    fn spawn(&self, first: Option<(usize, Answer)>) {
        let worker = self.clone();
        std::thread::spawn(move || worker.run(first));
    }

    fn run(&self, first: Option<(usize, Answer)>) {
        let mut begun = first.map(|(index, answer)| (index, Some(answer)));
        while let Some((index, answer)) = begun.take().or_else(|| self.shared.take().map(|(i, _)| (i, None)))
        {
            let result = self.bring(index, answer);
            let mut state = self.shared.lock();
            state.busy[index] = false;
            match result {
                Ok(()) => {}
                Err(Trouble::Lost) => state.is_lost = true,
                Err(Trouble::Refused(refused)) => state.failures.push(refused),
                Err(Trouble::Over) => {}
            }
            let goes_on = state.pieces[index].is_whole();
            drop(state);
            self.shared.changed.notify_all();
            if !goes_on {
                return;
            }
        }
    }

    /// Asks for what is missing of a piece.
    fn ask(&self, piece: Piece) -> Result<Answer, Trouble> {
        let wanted = Wanted { from: piece.next(), end: Some(piece.end) };
        let answer = http::get(&self.url, wanted, self.validator.as_deref()).map_err(Trouble::Refused)?;
        let is_ours = answer.status == 206
            && answer.range == Some((piece.next(), Some(self.size)))
            && (self.validator.is_none() || answer.validator == self.validator);
        if is_ours { Ok(answer) } else { Err(Trouble::Lost) }
    }

    fn bring(&self, index: usize, answer: Option<Answer>) -> Result<(), Trouble> {
        let piece = self.shared.lock().pieces[index];
        let answer = answer.map_or_else(|| self.ask(piece), Ok)?;
        let connection = Connection::new(answer.reader, self.stall);
        let path = self.path(piece);
        loop {
            let piece = self.shared.lock().pieces[index];
            if piece.is_whole() {
                return Ok(());
            }
            let progress = Progress { what: &self.label, got: piece.next(), expected: Some(piece.end) };
            let Some(chunk) = connection.receive(progress, || self.shared.is_over())? else { return Ok(()) };
            let wanted = usize::try_from(piece.end - piece.next()).unwrap_or(chunk.len()).min(chunk.len());
            let mut state = self.shared.lock();
            if state.is_over {
                return Err(Trouble::Over);
            }
            pieces::append(&path, &chunk[..wanted]).map_err(Error::from)?;
            state.pieces[index].have += wanted as u64;
            drop(state);
            self.shared.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::connections;

    #[test]
    fn several_connections_are_for_large_archives_or_on_demand() {
        let mib = 1 << 20;
        for (asked, size, expected) in [
            (None, Some(255 * mib), 1),
            (None, Some(256 * mib), 4),
            (Some(1), Some(4096 * mib), 1),
            (Some(8), Some(mib), 8),
            (Some(0), Some(mib), 1),
            (Some(8), None, 1),
        ] {
            assert_eq!(connections(asked, size), expected, "{asked:?} {size:?}");
        }
    }
}
