//! Waiting for a graph: its last kernel writes to memory that the host sees, so the host looks there and leaves the driver alone.

use super::card::Card;
use super::error::Error;
use crate::kernels::ring;
use hip::MappedWords;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The word that a card writes.
pub(super) struct Bell {
    words: MappedWords,
    /// How long the host looks before it asks the driver.
    interval: Duration,
    ticket: AtomicU32,
}

/// The rule: on Windows a write of the card becomes visible only when the driver is entered, so it is asked each time; elsewhere every 2 ms
/// (facts/strata.md 1.6, Strata #426). `STRATA_TG_FLUSH_US`, in microseconds, overrides.
pub(super) fn flush_interval(is_windows: bool, variable: Option<&str>) -> Duration {
    let default = if is_windows { 0 } else { 2000 };
    Duration::from_micros(variable.and_then(|text| text.trim().parse().ok()).unwrap_or(default))
}

impl Bell {
    /// `None`: the card does not see memory of the host.
    pub(super) fn new(card: &Card) -> Option<Self> {
        card.enter().ok()?;
        let words = card.runtime.mapped_words(1).ok()?;
        let variable = std::env::var("STRATA_TG_FLUSH_US").ok();
        Some(Self {
            words,
            interval: flush_interval(cfg!(windows), variable.as_deref()),
            ticket: AtomicU32::new(0),
        })
    }

    /// What the next step rings with.
    pub(super) fn next_ticket(&self) -> u32 {
        self.ticket.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// Queues the kernel that rings with the word of the inputs.
    pub(super) fn queue(&self, card: &Card, word: usize) -> Result<(), Error> {
        card.launch(&ring(self.words.address(), card.input(word)))
    }

    /// Waits until the card has rung with `ticket`, or has nothing more to do.
    pub(super) fn wait(&self, card: &Card, ticket: u32) -> Result<(), Error> {
        let has_rung = || self.words.words()[0].load(Ordering::Acquire) == ticket;
        loop {
            let start = Instant::now();
            while !has_rung() && start.elapsed() < self.interval {
                std::hint::spin_loop();
            }
            if has_rung() || card.call(card.stream.is_done())? {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_asks_the_driver_each_time_and_the_variable_overrides() {
        let table = [
            (true, None, 0),
            (false, None, 2000),
            (true, Some("50"), 50),
            (false, Some(" 0 "), 0),
            (false, Some("soon"), 2000),
        ];
        for (is_windows, variable, microseconds) in table {
            assert_eq!(
                flush_interval(is_windows, variable),
                Duration::from_micros(microseconds),
                "{variable:?}"
            );
        }
    }
}
