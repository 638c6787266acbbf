//! Runs the registries' own clients.

use crate::fetch::Error;
use crate::ui::interrupted;
use std::io;
use std::process::{Command, Stdio};

/// How a client ended.
pub(super) struct Ended {
    /// Whether it says that all went well.
    pub(super) success: bool,
    /// The last lines of what it printed, both streams.
    pub(super) tail: String,
    /// Its standard output.
    pub(super) stdout: String,
}

const TAIL_LINES: usize = 12;

/// Runs `command` to its end without a terminal's input; `explain` tells why it could not be started.
pub(super) fn run(command: &mut Command, explain: impl FnOnce(io::Error) -> Error) -> Result<Ended, Error> {
    let output = command.stdin(Stdio::null()).output();
    // Ctrl-C ends the client too, and what it says then is not the reason.
    if interrupted() {
        return Err(Error::Interrupted);
    }
    let output = output.map_err(explain)?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let all = format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = all.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
    Ok(Ended { success: output.status.success(), tail, stdout })
}
