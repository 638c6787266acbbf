//! Where an archive's bytes come from, chunk by chunk: a local file, or a server that may fail at any byte.

use super::connection::{Connection, Progress};
use super::http::{self, Answer, Refused};
use super::partial::{Origin, Partial};
use super::retry::Retry;
use super::{Error, Timing};
use crate::lock::Archive;
use crate::ui::Ui;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Bytes that several threads read.
pub(super) type Chunk = Arc<[u8]>;

/// As many bytes are read at once.
pub(super) const CHUNK: usize = 256 << 10;

/// Gives an archive's bytes in order, none when all have come.
pub(super) trait Feed {
    /// The next bytes.
    fn next(&mut self) -> Result<Option<Chunk>, Error>;

    /// The file that holds all bytes once `next` has given none.
    fn file(&self) -> &Path;

    /// Whether bytes of an earlier run were used, which may be wrong.
    fn was_resumed(&self) -> bool {
        false
    }

    /// Tells that the bytes are not those of the lock.
    fn reject(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

/// A file that a client of the machine brought, or a folder mirror has.
pub(super) struct LocalFeed {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
}

impl LocalFeed {
    pub(super) fn open(path: PathBuf) -> Result<Self, Error> {
        let file =
            File::open(&path).map_err(|source| Error::Io { verb: "open", path: path.clone(), source })?;
        Ok(Self { path, file, buffer: vec![0; CHUNK] })
    }
}

impl Feed for LocalFeed {
    fn next(&mut self) -> Result<Option<Chunk>, Error> {
        read_chunk(&mut self.file, &mut self.buffer).map_err(|source| Error::Io {
            verb: "read",
            path: self.path.clone(),
            source,
        })
    }

    fn file(&self) -> &Path {
        &self.path
    }
}

/// A download that is kept as it comes, continued where it broke, in this run and in the next.
pub(super) struct HttpFeed<'a> {
    url: String,
    archive: &'a Archive,
    partial: Partial,
    /// The bytes of an earlier run, while they are read back.
    prefix: Option<LocalFeed>,
    connection: Option<Connection>,
    /// Leading bytes of the connection that are there already.
    skip: u64,
    resumed: bool,
    /// Whether whoever reads may have bytes of the partial file, so that it has to go on behind them.
    passed_on: bool,
    retry: Retry,
    stall: Duration,
    ui: &'a Ui,
}

impl<'a> HttpFeed<'a> {
    /// Asks for what is missing of `archive` at `url`.
    pub(super) fn open(
        url: &str,
        archive: &'a Archive,
        partials: &Path,
        timing: Timing,
        ui: &'a Ui,
    ) -> Result<Self, Error> {
        let mut feed =
            Self::new(url, archive, Partial::open(partials, archive.sha256, archive.size)?, timing, ui);
        if !feed.is_complete() {
            feed.connect()?;
            if feed.skip > 0 {
                // The server starts anew, and nothing has been passed on yet: so do we.
                feed.partial.clear()?;
                feed.skip = 0;
            }
        }
        feed.read_back()
    }

    /// Reads an archive that an earlier run has brought whole; no address is asked.
    pub(super) fn kept(
        archive: &'a Archive,
        partials: &Path,
        timing: Timing,
        ui: &'a Ui,
    ) -> Result<Self, Error> {
        Self::new("", archive, Partial::open(partials, archive.sha256, archive.size)?, timing, ui).read_back()
    }

    /// Begins with what there is.
    fn read_back(mut self) -> Result<Self, Error> {
        if self.partial.length() > 0 {
            self.resumed = true;
            self.prefix = Some(LocalFeed::open(self.partial.path().to_owned())?);
        }
        self.passed_on = true;
        Ok(self)
    }

    /// Goes on behind the bytes of `partial`, all of which another feed has passed on.
    pub(super) fn take_over(
        url: &str,
        archive: &'a Archive,
        partial: Partial,
        timing: Timing,
        ui: &'a Ui,
    ) -> Result<Self, Error> {
        let mut feed = Self::new(url, archive, partial, timing, ui);
        feed.passed_on = true;
        if !feed.is_complete() {
            feed.connect()?;
        }
        Ok(feed)
    }

    fn new(url: &str, archive: &'a Archive, partial: Partial, timing: Timing, ui: &'a Ui) -> Self {
        Self {
            url: url.to_owned(),
            archive,
            partial,
            prefix: None,
            connection: None,
            skip: 0,
            resumed: false,
            passed_on: false,
            retry: Retry::new(timing.retry_scale),
            stall: timing.stall,
            ui,
        }
    }

    fn is_complete(&self) -> bool {
        self.archive.size == Some(self.partial.length())
    }

    /// Asks for the bytes after those that are there, as often as the budget allows.
    fn connect(&mut self) -> Result<(), Error> {
        loop {
            let (error, after) = match self.ask() {
                Ok(answer) => return self.accept(answer),
                // All of it came, though nobody knew that that was all: the hash tells whether it is right.
                Err(Refused { whole: Some(length), .. }) if length == self.partial.length() => return Ok(()),
                Err(Refused { error: Error::Status { status: 416, .. }, .. }) if self.can_start_anew() => {
                    // There is nothing after what we have: it is of another file.
                    self.partial.clear()?;
                    continue;
                }
                Err(Refused { error, retry_after, .. }) => (error, retry_after),
            };
            self.retry.wait(error, self.partial.length(), after, self.ui)?;
        }
    }

    fn ask(&self) -> Result<Answer, Refused> {
        let origin = self.partial.origin().filter(|origin| origin.is_of(&self.url));
        let validator = origin.and_then(|origin| origin.validator.as_deref());
        let from = self.partial.length();
        let answer = http::get(&self.url, http::Wanted::from(from), validator)?;
        let refuse = |reason: String| -> Refused {
            Error::Broken { what: self.archive.label(), got: from, reason }.into()
        };
        if answer.status == 206 {
            let total_is_other = |total: u64| self.archive.size.is_some_and(|size| size != total);
            match answer.range {
                Some((start, _)) if start != from => {
                    return Err(refuse(format!("asked for byte {from}, the server sent from byte {start}")));
                }
                Some((_, Some(total))) if total_is_other(total) => return Err(self.other_size(total)),
                Some(_) => {}
                None => return Err(refuse("the server sent a range and did not say which".into())),
            }
        } else if let Some(length) =
            answer.length.filter(|length| self.archive.size.is_some_and(|s| s != *length))
        {
            return Err(self.other_size(length));
        }
        Ok(answer)
    }

    fn other_size(&self, actual: u64) -> Refused {
        let expected = self.archive.size.unwrap_or(0);
        Error::Size { what: self.archive.label(), expected, actual }.into()
    }

    fn can_start_anew(&self) -> bool {
        !self.passed_on && self.partial.length() > 0
    }

    fn accept(&mut self, answer: Answer) -> Result<(), Error> {
        self.skip = if answer.status == 206 { 0 } else { self.partial.length() };
        self.partial.set_origin(Origin::of(&self.url, answer.validator))?;
        self.connection = Some(Connection::new(answer.reader, self.stall));
        Ok(())
    }

    /// The next bytes of the connection, or why there are none.
    fn receive(&mut self) -> Result<Option<Chunk>, Error> {
        let Some(connection) = &self.connection else { return Ok(None) };
        let what = self.archive.label();
        let progress = Progress { what: &what, got: self.partial.length(), expected: self.archive.size };
        connection.receive(progress, || false)
    }
}

impl Feed for HttpFeed<'_> {
    fn next(&mut self) -> Result<Option<Chunk>, Error> {
        if let Some(prefix) = &mut self.prefix {
            if let Some(chunk) = prefix.next()? {
                return Ok(Some(chunk));
            }
            self.prefix = None;
        }
        loop {
            let chunk = match self.receive() {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Ok(None),
                Err(error) => {
                    self.connection = None;
                    self.retry.wait(error, self.partial.length(), None, self.ui)?;
                    self.connect()?;
                    continue;
                }
            };
            let skipped = self.skip.min(chunk.len() as u64);
            self.skip -= skipped;
            let rest = &chunk[usize::try_from(skipped).unwrap_or(chunk.len())..];
            if rest.is_empty() {
                continue;
            }
            if self.partial.length() == 0
                && let Err(page) = refuse_page(self.archive, rest)
            {
                self.partial.clear()?;
                return Err(page);
            }
            self.partial.append(rest)?;
            return Ok(Some(if skipped == 0 { chunk } else { Chunk::from(rest) }));
        }
    }

    fn file(&self) -> &Path {
        self.partial.path()
    }

    fn was_resumed(&self) -> bool {
        self.resumed
    }

    fn reject(self: Box<Self>) -> Result<(), Error> {
        Ok(self.partial.quarantine()?)
    }
}

fn read_chunk(file: &mut File, buffer: &mut [u8]) -> io::Result<Option<Chunk>> {
    loop {
        match file.read(buffer) {
            Ok(0) => return Ok(None),
            Ok(n) => return Ok(Some(Chunk::from(&buffer[..n]))),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Refuses the first bytes of an archive that are those of a web page.
pub(super) fn refuse_page(archive: &Archive, bytes: &[u8]) -> Result<(), Error> {
    web_page(bytes).map_or(Ok(()), |quote| Err(Error::Page { what: archive.label(), quote }))
}

/// The beginning of a web page that was sent in place of an archive: a proxy's or a login's.
fn web_page(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).trim_start().to_owned();
    let lower = text.to_ascii_lowercase();
    let is_page = lower.starts_with("<!doctype html") || lower.starts_with("<html");
    let title = lower
        .find("<title>")
        .map(|at| text[at + 7..].split('<').next().unwrap_or_default().trim().to_owned());
    is_page.then(|| title.unwrap_or_else(|| text.chars().take(60).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_pages_are_quoted() {
        let page = |text: &str| web_page(text.as_bytes());
        assert_eq!(page("\n <!DOCTYPE html><head><title> Sign in </title>").as_deref(), Some("Sign in"));
        assert_eq!(page("<HTML><body>Blocked").as_deref(), Some("<HTML><body>Blocked"));
        assert_eq!(page("\u{1f}\u{8b}"), None);
    }
}
