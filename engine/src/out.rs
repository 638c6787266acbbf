//! What programs give: text on stdout.

use std::fmt::Display;
use std::io::{ErrorKind, Result, Write};

/// Writes a text and ends its line. A reader that has gone has seen all it wanted.
///
/// # Errors
/// Any other, e.g. a full disk.
pub fn line(text: impl Display) -> Result<()> {
    write(&format!("{text}\n"))
}

/// As [`line()`], for text with lines of its own.
///
/// # Errors
/// As there.
pub fn write(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}
