//! Ctrl-C: asked for at every place that waits, so that everything on the way out cleans up after itself.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C, SIGTERM or SIGHUP came.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// From now on the first signal asks for an orderly end; the second ends at once.
pub(crate) fn install() {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    // Without a handler Ctrl-C ends the process at once, which the store survives too.
    let _ = ctrlc::set_handler(handler);
}
