//! What people and machines see: data on stdout, talk on stderr.

mod bar;
mod failure;
mod interrupt;

pub(crate) use bar::Bar;
pub(crate) use failure::{Failure, chain, render, render_json};
pub(crate) use interrupt::{install as install_interrupt_handler, interrupted};

use indicatif::MultiProgress;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// Who reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum OutputFormat {
    /// A person.
    #[default]
    Human,
    /// A program: one JSON object a line on stdout.
    Json,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors and data only.
    Quiet,
    /// One line a phase.
    Normal,
    /// Commands and reasons too.
    Verbose,
}

/// The one place that talks.
#[derive(Debug)]
pub(crate) struct Ui {
    format: OutputFormat,
    verbosity: Verbosity,
    color: bool,
    bars: Option<MultiProgress>,
}

/// Raised when an event changes its meaning or loses a field.
const SCHEMA: u32 = 1;

impl Ui {
    /// For this process's streams.
    pub(crate) fn new(format: OutputFormat, verbosity: Verbosity, color: Color) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !is_set("NO_COLOR"),
        };
        let has_bars = is_terminal && format == OutputFormat::Human && verbosity > Verbosity::Quiet;
        Self { format, verbosity, color, bars: has_bars.then(MultiProgress::new) }
    }

    /// Whether a program reads.
    pub(crate) fn is_json(&self) -> bool {
        self.format == OutputFormat::Json
    }

    /// Whether colour is wanted.
    pub(crate) fn has_color(&self) -> bool {
        self.color
    }

    /// A phase that begins or is over: `verb` is one word, e.g. `fetch`.
    pub(crate) fn phase(&self, verb: &str, what: &str) {
        self.say(Verbosity::Normal, "32", verb, what);
        self.event(json!({"event": "phase", "phase": verb, "message": what}));
    }

    /// Something good to know.
    pub(crate) fn info(&self, message: &str) {
        self.say(Verbosity::Normal, "36", "note", message);
        self.event(json!({"event": "note", "message": message}));
    }

    /// A detail that only `-v` shows.
    pub(crate) fn detail(&self, message: &str) {
        self.say(Verbosity::Verbose, "2", "", message);
    }

    /// Something that may be wrong.
    pub(crate) fn warn(&self, message: &str) {
        self.say(Verbosity::Normal, "33", "warning", message);
        self.event(json!({"event": "warning", "message": message}));
    }

    /// A result for stdout: `text` for a person, `value` for a program.
    pub(crate) fn data(&self, text: &str, value: &Value) {
        match self.format {
            OutputFormat::Human => print_stdout(text),
            OutputFormat::Json => self.event(json!({"event": "result", "result": value})),
        }
    }

    /// A progress bar over `total` bytes; 0: unknown.
    pub(crate) fn bar(&self, name: &str, total: u64) -> Bar {
        match &self.bars {
            Some(bars) => Bar::on_terminal(bars, name, total),
            None if self.verbosity > Verbosity::Quiet => Bar::lines(name, total, self.is_json()),
            None => Bar::hidden(),
        }
    }

    fn say(&self, level: Verbosity, style: &str, verb: &str, message: &str) {
        if self.verbosity < level || (self.is_json() && level < Verbosity::Verbose) {
            return;
        }
        let line = match self.color {
            true => format!("\x1b[1;{style}m{verb:>9}\x1b[0m {message}"),
            false => format!("{verb:>9} {message}"),
        };
        match &self.bars {
            Some(bars) => bars.suspend(|| print_stderr(&line)),
            None => print_stderr(&line),
        }
    }

    fn event(&self, mut event: Value) {
        if self.is_json() {
            event["schema"] = SCHEMA.into();
            print_stdout(&event.to_string());
        }
    }
}

/// A reader that went away is no reason to panic.
fn print_stdout(line: &str) {
    let _ = writeln!(std::io::stdout(), "{}", line.trim_end_matches('\n'));
}

fn print_stderr(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// `1.68 GB` in powers of ten, as download pages give it.
pub(crate) fn human_bytes(bytes: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match units.into_iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) => format!("{:.2} {unit}", bytes as f64 / size as f64),
        None => format!("{bytes} B"),
    }
}

/// `12.3 s`, `240 ms`
pub(crate) fn human_time(time: Duration) -> String {
    match time.as_millis() {
        ms @ 0..1000 => format!("{ms} ms"),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_for_people() {
        assert_eq!([0, 999, 1_000, 2_282_922_923].map(human_bytes), ["0 B", "999 B", "1.00 kB", "2.28 GB"]);
        assert_eq!(human_time(Duration::from_millis(12_340)), "12.3 s");
        assert_eq!(human_time(Duration::from_millis(41)), "41 ms");
    }
}
