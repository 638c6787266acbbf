//! Everything that can go wrong between a lock entry and an unpacked tree.

use super::archive::Refusal;
use super::redirect::RedirectError;
use crate::digest::Sha256;
use crate::ui::counted;
use std::path::PathBuf;

/// An address that is never asked.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum UrlError {
    /// Plain http to another machine.
    #[error("`{0}` is plain http; only https is allowed, and http for loopback addresses")]
    PlainHttp(String),
    /// Neither https nor http.
    #[error("`{0}` is no https address")]
    Scheme(String),
}

/// A download or an archive that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// See [`UrlError`].
    #[error(transparent)]
    Url(#[from] UrlError),
    /// No answer: name resolution, connection, TLS, time-out.
    #[error("failed to connect to `{url}`: {reason}")]
    Connect {
        /// The address.
        url: String,
        /// What the client said.
        reason: String,
    },
    /// Somebody's certificate that no root of this machine has signed: a corporate proxy, or worse.
    #[error("failed to connect to `{url}`: its certificate is not trusted here ({reason})")]
    Certificate {
        /// The address.
        url: String,
        /// What the client said.
        reason: String,
    },
    /// See [`RedirectError`].
    #[error(transparent)]
    Redirect(#[from] RedirectError),
    /// An answer that is not the file.
    #[error("`{url}` answered {status}")]
    Status {
        /// The address.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The connection broke while the body came.
    #[error("the download of `{what}` broke after {got} bytes: {reason}")]
    Broken {
        /// Address or name.
        what: String,
        /// How many bytes had come.
        got: u64,
        /// What the client said.
        reason: String,
    },
    /// Nothing came for a minute.
    #[error("the download of `{what}` stalled: nothing came for {seconds} s after {got} bytes")]
    Stalled {
        /// Address or name.
        what: String,
        /// How many bytes had come.
        got: u64,
        /// How long was waited.
        seconds: u64,
    },
    /// More or fewer bytes than the lock says.
    #[error("`{what}` has {actual} bytes, the lock says {expected}")]
    Size {
        /// Address or name.
        what: String,
        /// In the lock.
        expected: u64,
        /// What came; at least, when the download was stopped.
        actual: u64,
    },
    /// A web page in place of an archive.
    #[error("`{what}` is a web page (\"{quote}\"): a proxy or a login page answered in its place")]
    Page {
        /// Address or name.
        what: String,
        /// Its title or its first words.
        quote: String,
    },
    /// Other bytes than the lock says.
    #[error(
        "`{what}` has another sha256 than the lock says\n  expected {expected}\n  actual   {actual} ({length} bytes)"
    )]
    Hash {
        /// Address or name.
        what: String,
        /// In the lock.
        expected: Sha256,
        /// What came.
        actual: Sha256,
        /// How many bytes came.
        length: u64,
    },
    /// The bytes are right and the archive is not acceptable.
    #[error("failed to unpack `{what}`")]
    Archive {
        /// Address or name.
        what: String,
        /// Which rule it breaks.
        source: Refusal,
    },
    /// A folder or file of ours could not be written.
    #[error("failed to {verb} `{path}`")]
    Io {
        /// `create`, `read`, …
        verb: &'static str,
        /// What.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// No pip on this machine.
    #[error("no pip was found (tried {})", .tried.join(", "))]
    NoPip {
        /// The command lines.
        tried: Vec<String>,
    },
    /// pip ended with an error.
    #[error("pip could not download {what}:\n{output}")]
    Pip {
        /// Name and version.
        what: String,
        /// Its last lines.
        output: String,
    },
    /// pip brought another file than the lock names.
    #[error("pip brought `{}` for {what}, the lock names `{expected}`", .found.join("`, `"))]
    PipOtherFile {
        /// Name and version.
        what: String,
        /// The lock's file.
        expected: String,
        /// What came.
        found: Vec<String>,
    },
    /// No apt-get on this machine.
    #[error("no apt-get was found, which fetches {what}")]
    NoApt {
        /// Name and version.
        what: String,
    },
    /// apt knows no Debian mirror.
    #[error("this machine names no Debian mirror for the suite `{suite}`")]
    NoMirror {
        /// The suite.
        suite: String,
    },
    /// apt-get ended with an error.
    #[error("apt-get {step} failed:\n{output}")]
    Apt {
        /// `update` or `download`.
        step: &'static str,
        /// Its last lines.
        output: String,
    },
    /// The mirror has no such version any more.
    #[error(
        "the mirror's suite `{suite}` no longer has {name} {version}{}",
        .newer.as_ref().map(|v| format!(", it has {v}")).unwrap_or_default()
    )]
    VersionGone {
        /// The lock's package, for the hint.
        package: String,
        /// The Debian package.
        name: String,
        /// The pinned version.
        version: String,
        /// Where it was.
        suite: String,
        /// What it has instead.
        newer: Option<String>,
    },
    /// Every source of a package failed.
    #[error("no source of {package} {version} could be used{}", list(.failures))]
    AllSources {
        /// The package.
        package: String,
        /// Its version.
        version: String,
        /// One line a source.
        failures: Vec<(String, Box<Error>)>,
    },
    /// The right archives, unpacked to another tree than when they were measured: our rules or a decoder have changed.
    #[error(
        "{package} unpacks to another tree than the lock says\n  expected {expected}\n  actual   {actual}"
    )]
    Tree {
        /// The package.
        package: String,
        /// In the lock.
        expected: Sha256,
        /// What came out.
        actual: Sha256,
    },
    /// A file operation of the store.
    #[error(transparent)]
    Files(#[from] crate::files::Error),
    /// Nothing may be downloaded and something is missing.
    #[error("--offline: {package} lacks {}{}", counted(.missing.len(), "file"), .missing.iter().map(|(file, sha256)| format!("\n  {sha256}  {file}")).collect::<String>())]
    Offline {
        /// The package.
        package: String,
        /// File name and digest of each.
        missing: Vec<(String, Sha256)>,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

fn list(failures: &[(String, Box<Error>)]) -> String {
    failures.iter().map(|(source, error)| format!("\n  {source}: {}", crate::ui::chain(error))).collect()
}

impl Error {
    /// Whether the source could not be asked at all, so that nothing is known of its bytes.
    pub(crate) fn is_about_the_way(&self) -> bool {
        matches!(
            self,
            Error::Url(_)
                | Error::Connect { .. }
                | Error::Certificate { .. }
                | Error::Redirect(_)
                | Error::Status { .. }
                | Error::Broken { .. }
                | Error::Stalled { .. }
                | Error::Page { .. }
                | Error::NoPip { .. }
                | Error::Pip { .. }
                | Error::NoApt { .. }
                | Error::NoMirror { .. }
                | Error::Apt { .. }
                | Error::VersionGone { .. }
        )
    }

    /// Whether trying another source could help: not after Ctrl-C, and not when our own disk is the trouble.
    pub(crate) fn is_about_the_source(&self) -> bool {
        !matches!(self, Error::Interrupted | Error::Io { .. } | Error::Files(_))
            && !matches!(self, Error::Archive { source: Refusal::Write { .. }, .. })
    }
}
