//! Counts for Prometheus.

use crate::generate::Times;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What has happened since the start. Times are in microseconds.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    pub(super) requests: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) finished: AtomicU64,
    pub(super) cancelled: AtomicU64,
    pub(super) running: AtomicU64,
    pub(super) waiting: AtomicU64,
    prompt_tokens: AtomicU64,
    reused_tokens: AtomicU64,
    generated_tokens: AtomicU64,
    prompt_time: AtomicU64,
    decode_time: AtomicU64,
}

impl Metrics {
    pub(super) fn finish(&self, times: Times) {
        self.finished.fetch_add(1, Relaxed);
        self.prompt_tokens.fetch_add(times.prompt as u64, Relaxed);
        self.reused_tokens.fetch_add(times.reused as u64, Relaxed);
        self.generated_tokens.fetch_add(times.generated as u64, Relaxed);
        self.prompt_time.fetch_add(times.prompt_time.as_micros() as u64, Relaxed);
        self.decode_time.fetch_add(times.decode_time.as_micros() as u64, Relaxed);
    }

    /// The text format of Prometheus.
    pub(super) fn text(&self) -> String {
        let table: [(&str, &str, &str, &AtomicU64); 9] = [
            ("strata_requests_total", "counter", "requests for a completion", &self.requests),
            ("strata_requests_refused_total", "counter", "requests that got an error", &self.refused),
            (
                "strata_requests_finished_total",
                "counter",
                "requests that were answered in full",
                &self.finished,
            ),
            ("strata_requests_cancelled_total", "counter", "requests whose client left", &self.cancelled),
            ("strata_requests_running", "gauge", "sequences that are being computed", &self.running),
            ("strata_requests_waiting", "gauge", "sequences that wait for a slot", &self.waiting),
            ("strata_prompt_tokens_total", "counter", "tokens of answered prompts", &self.prompt_tokens),
            (
                "strata_prompt_tokens_reused_total",
                "counter",
                "tokens of answered prompts that were in the cache already",
                &self.reused_tokens,
            ),
            ("strata_generated_tokens_total", "counter", "tokens of answers", &self.generated_tokens),
        ];
        let mut text = String::new();
        for (name, kind, help, value) in table {
            let value = value.load(Relaxed);
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
        }
        for (name, help, value) in [
            ("strata_prompt_seconds_total", "time to the first token, over all requests", &self.prompt_time),
            (
                "strata_decode_seconds_total",
                "time from first to last token, over all requests",
                &self.decode_time,
            ),
        ] {
            let seconds = value.load(Relaxed) as f64 / 1e6;
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {seconds}\n");
        }
        text
    }
}
