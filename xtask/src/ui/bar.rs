//! Progress of long work: a bar on a terminal; elsewhere a line for each tenth, none for what is over in a moment.

use super::{human_bytes, human_time};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde_json::json;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// No line sooner than this after the last, so that fast work says nothing.
const SHORTEST: Duration = Duration::from_secs(2);
/// A line at the latest after this, so that slow work is seen to live.
const LONGEST: Duration = Duration::from_secs(30);
/// How often a job's clock moves.
const TICK: Duration = Duration::from_millis(200);

/// One piece of long work.
#[derive(Debug)]
pub(crate) struct Bar {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Terminal(ProgressBar),
    Lines(Mutex<Lines>),
    Hidden,
}

#[derive(Debug)]
struct Lines {
    verb: &'static str,
    name: String,
    total: u64,
    done: u64,
    tenth: u64,
    start: Instant,
    last: Instant,
    is_json: bool,
}

/// How a bar over bytes is written on a terminal of `columns`; whatever the width, it is one line.
pub(super) fn template(columns: usize, is_total_known: bool, color: bool) -> String {
    let verb = if color { "{prefix:>9.green.bold}" } else { "{prefix:>9}" };
    match (columns, is_total_known) {
        (0..50, true) => format!("{verb} {{msg:12!}} {{percent:>3}} % {{eta:>4}}"),
        (50..100, true) => {
            format!(
                "{verb} {{msg:16!}} [{{wide_bar}}] {{percent:>3}} % {{decimal_bytes_per_sec:>12}} {{eta:>4}}"
            )
        }
        (_, true) => {
            format!(
                "{verb} {{msg:28!}} [{{wide_bar}}] {{decimal_bytes:>10}}/{{decimal_total_bytes:>10}} {{decimal_bytes_per_sec:>12}} {{eta:>4}}"
            )
        }
        (0..50, false) => format!("{verb} {{msg:12!}} {{decimal_bytes:>10}}"),
        (_, false) => format!("{verb} {{msg:28!}} {{decimal_bytes:>10}} {{decimal_bytes_per_sec:>12}}"),
    }
}

/// How a running job is written: its name and how long it has been running.
pub(super) fn job_template(columns: usize, color: bool) -> String {
    let verb = if color { "{prefix:>9.cyan}" } else { "{prefix:>9}" };
    let name = columns.saturating_sub(20).clamp(12, 60);
    format!("{verb} {{msg:{name}!}} {{elapsed:>4}}")
}

impl Bar {
    pub(super) fn on_terminal(
        bars: &MultiProgress,
        template: &str,
        verb: &'static str,
        name: &str,
        total: u64,
    ) -> Self {
        // Hidden until it has its words: it is drawn as soon as it is added.
        let bar = ProgressBar::hidden();
        bar.set_length(total);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(verb);
        bar.set_message(name.to_owned());
        let bar = bars.add(bar);
        bar.tick();
        Self { kind: Kind::Terminal(bar) }
    }

    /// Lets the clock of a job move by itself.
    pub(super) fn ticking(self) -> Self {
        if let Kind::Terminal(bar) = &self.kind {
            bar.enable_steady_tick(TICK);
        }
        self
    }

    pub(super) fn lines(verb: &'static str, name: &str, total: u64, is_json: bool) -> Self {
        Self { kind: Kind::Lines(Mutex::new(Lines::new(verb, name, total, is_json, Instant::now()))) }
    }

    pub(super) fn hidden() -> Self {
        Self { kind: Kind::Hidden }
    }

    /// `amount` more is done.
    pub(crate) fn advance(&self, amount: u64) {
        match &self.kind {
            Kind::Terminal(bar) => bar.inc(amount),
            Kind::Lines(lines) => {
                if let Some(line) =
                    lines.lock().unwrap_or_else(PoisonError::into_inner).advance(amount, Instant::now())
                {
                    line.print();
                }
            }
            Kind::Hidden => {}
        }
    }

    /// All is done.
    pub(crate) fn finish(&self) {
        if let Kind::Terminal(bar) = &self.kind {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Line {
    text: String,
    is_json: bool,
}

impl Line {
    fn print(&self) {
        match self.is_json {
            true => super::print_stdout(&self.text),
            false => super::print_stderr(&self.text),
        }
    }
}

impl Lines {
    fn new(verb: &'static str, name: &str, total: u64, is_json: bool, start: Instant) -> Self {
        Self { verb, name: name.to_owned(), total, done: 0, tenth: 0, start, last: start, is_json }
    }

    fn advance(&mut self, amount: u64, now: Instant) -> Option<Line> {
        self.done += amount;
        let tenth = (self.done * 10).checked_div(self.total).unwrap_or(0);
        let quiet = now.duration_since(self.last);
        let is_due = (tenth > self.tenth && quiet >= SHORTEST) || quiet >= LONGEST;
        if !is_due {
            return None;
        }
        (self.tenth, self.last) = (tenth, now);
        let text = if self.is_json { self.json(now) } else { self.text(now) };
        Some(Line { text, is_json: self.is_json })
    }

    /// In bytes a second.
    fn rate(&self, now: Instant) -> u64 {
        (self.done as f64 / now.duration_since(self.start).as_secs_f64().max(0.001)) as u64
    }

    /// How long it will take, as it has gone so far.
    fn left(&self, now: Instant) -> Option<Duration> {
        let left = self.total.checked_sub(self.done)?;
        (self.total > 0).then(|| Duration::from_secs(left / self.rate(now).max(1)))
    }

    fn json(&self, now: Instant) -> String {
        json!({
            "event": "progress", "schema": super::SCHEMA, "phase": self.verb, "name": self.name,
            "done": self.done, "total": self.total,
            "bytes_per_second": self.rate(now), "seconds_left": self.left(now).map(|left| left.as_secs()),
        })
        .to_string()
    }

    fn text(&self, now: Instant) -> String {
        let Self { verb, name, done, total, tenth, .. } = self;
        let rate = human_bytes(self.rate(now));
        match self.left(now) {
            None => format!("{verb:>9} {name}: {}, {rate}/s", human_bytes(*done)),
            Some(left) => format!(
                "{verb:>9} {name}: {} % of {}, {rate}/s, {} left",
                tenth * 10,
                human_bytes(*total),
                human_time(left)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_tenth_and_none_for_fast_work() {
        let start = Instant::now();
        let mut lines = Lines::new("fetch", "llvm", 1000, false, start);
        let said = |lines: &mut Lines, amount, after| {
            lines.advance(amount, start + Duration::from_secs(after)).map(|line| line.text)
        };
        assert_eq!(said(&mut lines, 200, 1), None, "too soon");
        let third = said(&mut lines, 100, 2);
        assert_eq!(third.as_deref(), Some("    fetch llvm: 30 % of 1.00 kB, 150 B/s, 4.0 s left"));
        assert_eq!(said(&mut lines, 1, 9), None, "the same tenth");
        assert!(said(&mut lines, 1, 40).is_some(), "half a minute has passed");
        let last = said(&mut lines, 698, 42);
        assert_eq!(last.as_deref(), Some("    fetch llvm: 100 % of 1.00 kB, 23 B/s, 0 ms left"));
    }

    #[test]
    fn a_program_reads_rate_and_time() {
        let start = Instant::now();
        let mut lines = Lines::new("fetch", "llvm", 1000, true, start);
        let line = lines.advance(500, start + Duration::from_secs(5)).expect("a line");
        let event: serde_json::Value = serde_json::from_str(&line.text).expect("JSON");
        assert_eq!((&event["bytes_per_second"], &event["seconds_left"]), (&json!(100), &json!(5)));
    }
}
