//! When a failed request is tried again, and how long is waited: one budget for an archive, whatever the layer that failed.

use super::Error;
use crate::ui::{Ui, human_time, interrupted};
use std::time::{Duration, Instant};

/// Failures in a row that are borne; progress starts the count anew, so a bad line gets through a large file.
const BUDGET: u32 = 5;
/// What counts as progress.
const PROGRESS: u64 = 1 << 20;
/// The first wait; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// No wait is longer, not even one that a server asks for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The tries that are left.
#[derive(Debug)]
pub(super) struct Retry {
    failures: u32,
    at: u64,
    /// 1 in production; tests wait less.
    scale: f64,
}

impl Retry {
    pub(super) fn new(scale: f64) -> Self {
        Self { failures: 0, at: 0, scale }
    }

    /// Waits before the next try, or gives `error` back when it is final. `got`: bytes that have come so far.
    pub(super) fn wait(
        &mut self,
        error: Error,
        got: u64,
        after: Option<Duration>,
        ui: &Ui,
    ) -> Result<(), Error> {
        if !is_transient(&error) {
            return Err(error);
        }
        if got >= self.at + PROGRESS {
            self.failures = 0;
        }
        self.at = got;
        self.failures += 1;
        if self.failures > BUDGET {
            return Err(error);
        }
        let wait = wait_before(self.failures, jitter(), after).mul_f64(self.scale);
        ui.info(&format!("{error}; try {} of {BUDGET} in {}", self.failures, human_time(wait)));
        sleep(wait)
    }
}

/// Whether the same request can end differently.
fn is_transient(error: &Error) -> bool {
    match error {
        Error::Connect { .. } | Error::Broken { .. } | Error::Stalled { .. } => true,
        Error::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504),
        _ => false,
    }
}

/// Doubling, from half to all of it, or what the server asks for.
fn wait_before(failure: u32, jitter: f64, after: Option<Duration>) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(1 << (failure - 1).min(16));
    let wait = after.unwrap_or_else(|| doubled.mul_f64(0.5 + jitter / 2.0));
    wait.min(LONGEST_WAIT)
}

/// From 0 to 1: the clock's smallest digits are different enough for clients that failed together.
fn jitter() -> f64 {
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
    f64::from(now % 1000) / 1000.0
}

fn sleep(wait: Duration) -> Result<(), Error> {
    let end = Instant::now() + wait;
    while Instant::now() < end {
        if interrupted() {
            return Err(Error::Interrupted);
        }
        std::thread::sleep(Duration::from_millis(20).min(end.saturating_duration_since(Instant::now())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_end() {
        let waits = [1, 2, 3, 20].map(|failure| wait_before(failure, 1.0, None).as_millis());
        assert_eq!(waits, [500, 1000, 2000, 60_000]);
        assert_eq!(wait_before(1, 0.0, None).as_millis(), 250);
        assert_eq!(wait_before(1, 0.0, Some(Duration::from_secs(7))).as_secs(), 7);
        assert_eq!(wait_before(1, 0.0, Some(Duration::from_secs(7000))).as_secs(), 60);
    }

    #[test]
    fn only_what_can_change_is_tried_again() {
        let status = |status| is_transient(&Error::Status { url: String::new(), status });
        assert!([408, 429, 500, 502, 503, 504].into_iter().all(status));
        assert!(![400, 401, 403, 404, 410, 416, 501].into_iter().any(status));
    }
}
