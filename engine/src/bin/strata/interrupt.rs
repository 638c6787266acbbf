//! Ctrl-C.

use anyhow::{Context, Result};

/// The exit code of what was interrupted.
pub(crate) const CODE: u8 = 130;

/// Calls `first` at the first Ctrl-C; the second ends the process.
pub(crate) fn on_interrupt(mut first: impl FnMut() + Send + 'static) -> Result<()> {
    let mut is_first = true;
    let handler = move || {
        if !std::mem::take(&mut is_first) {
            std::process::exit(CODE.into());
        }
        first();
    };
    ctrlc::set_handler(handler).context("failed to listen for Ctrl-C")
}
