//! Progress of long work: a bar on a terminal; elsewhere a line for each tenth, none for what is over in a moment.

use super::human_bytes;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde_json::json;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// No line sooner than this after the last, so that fast work says nothing.
const SHORTEST: Duration = Duration::from_secs(2);
/// A line at the latest after this, so that slow work is seen to live.
const LONGEST: Duration = Duration::from_secs(30);

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
    name: String,
    total: u64,
    done: u64,
    tenth: u64,
    last: Instant,
    is_json: bool,
}

impl Bar {
    pub(super) fn on_terminal(bars: &MultiProgress, name: &str, total: u64) -> Self {
        let bar = bars.add(ProgressBar::new(total));
        let template = "{msg:28!} [{wide_bar:.green}] {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(name.to_owned());
        Self { kind: Kind::Terminal(bar) }
    }

    pub(super) fn lines(name: &str, total: u64, is_json: bool) -> Self {
        let lines = Lines { name: name.to_owned(), total, done: 0, tenth: 0, last: Instant::now(), is_json };
        Self { kind: Kind::Lines(Mutex::new(lines)) }
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
    fn advance(&mut self, amount: u64, now: Instant) -> Option<Line> {
        self.done += amount;
        let tenth = (self.done * 10).checked_div(self.total).unwrap_or(0);
        let quiet = now.duration_since(self.last);
        let is_due = (tenth > self.tenth && quiet >= SHORTEST) || quiet >= LONGEST;
        if !is_due {
            return None;
        }
        (self.tenth, self.last) = (tenth, now);
        let Self { name, done, total, is_json, .. } = &*self;
        let text = match is_json {
            true => json!({"event": "progress", "schema": super::SCHEMA, "name": name, "done": done, "total": total})
                .to_string(),
            false if *total == 0 => format!("{:>9} {name} {}", "", human_bytes(*done)),
            false => {
                format!("{:>9} {name} {}/{}", format!("{} %", tenth * 10), human_bytes(*done), human_bytes(*total))
            }
        };
        Some(Line { text, is_json: *is_json })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_tenth_and_none_for_fast_work() {
        let start = Instant::now();
        let mut lines =
            Lines { name: "llvm".into(), total: 1000, done: 0, tenth: 0, last: start, is_json: false };
        let said = |lines: &mut Lines, amount, after| {
            lines.advance(amount, start + Duration::from_secs(after)).map(|line| line.text)
        };
        assert_eq!(said(&mut lines, 200, 1), None, "too soon");
        assert_eq!(said(&mut lines, 100, 2).as_deref(), Some("     30 % llvm 300 B/1.00 kB"));
        assert_eq!(said(&mut lines, 1, 9), None, "the same tenth");
        assert!(said(&mut lines, 1, 40).is_some(), "half a minute has passed");
        assert_eq!(said(&mut lines, 698, 42).as_deref(), Some("    100 % llvm 1.00 kB/1.00 kB"));
    }
}
