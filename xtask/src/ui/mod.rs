//! What people and machines see: data on stdout, talk on stderr.

mod bar;
pub(crate) mod catalogue;
mod exit;
mod failure;
mod github;
mod interrupt;
mod panic;
mod surroundings;

pub(crate) use bar::Bar;
pub(crate) use failure::{Failure, chain};
pub(crate) use interrupt::{install as install_interrupt_handler, interrupted};
pub(crate) use panic::install as install_panic_report;
pub(crate) use surroundings::{Color, Surroundings};

use indicatif::MultiProgress;
use serde_json::{Value, json};
use std::io::Write;
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
    /// Of the terminal.
    columns: usize,
    is_github: bool,
    bars: Option<MultiProgress>,
}

/// `1 file`, `2 files`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Raised when an event changes its meaning or loses a field.
const SCHEMA: u32 = 1;
/// Of a terminal that does not tell its width.
const USUAL_WIDTH: usize = 80;

impl Ui {
    /// For this process's streams.
    pub(crate) fn new(format: OutputFormat, verbosity: Verbosity, color: Color, at: &Surroundings) -> Self {
        let has_bars = at.has_bars() && format == OutputFormat::Human && verbosity > Verbosity::Quiet;
        Self {
            format,
            verbosity,
            color: at.has_color(color),
            columns: at.columns.unwrap_or(USUAL_WIDTH),
            is_github: at.is_github,
            bars: has_bars.then(MultiProgress::new),
        }
    }

    /// Whether a program reads.
    pub(crate) fn is_json(&self) -> bool {
        self.format == OutputFormat::Json
    }

    /// Says why the command failed.
    pub(crate) fn failed(&self, error: &anyhow::Error, failure: &Failure) {
        match self.is_json() {
            true => print_stdout(&failure::render_json(error, failure)),
            false => print_stderr(failure::render(error, failure, self.color).trim_end()),
        }
        if self.is_github {
            print_stderr(&failure::annotation(error, failure));
        }
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
        if self.is_github {
            print_stderr(&github::annotation(github::Level::Warning, "warning", None, message));
        }
    }

    /// A result for stdout: `text` for a person, `value` for a program.
    pub(crate) fn data(&self, text: &str, value: &Value) {
        match self.format {
            OutputFormat::Human => print_stdout(text),
            OutputFormat::Json => self.event(json!({"event": "result", "result": value})),
        }
    }

    /// A progress bar over `total` bytes; 0: unknown. `verb` is the phase, `name` what is worked on.
    pub(crate) fn bar(&self, verb: &'static str, name: &str, total: u64) -> Bar {
        match &self.bars {
            Some(bars) => {
                let template = bar::template(self.columns, total > 0, self.color);
                Bar::on_terminal(bars, &template, verb, name, total)
            }
            None if self.verbosity > Verbosity::Quiet => Bar::lines(verb, name, total, self.is_json()),
            None => Bar::hidden(),
        }
    }

    /// A line on the terminal for as long as a job runs, one of several perhaps; elsewhere its phases say enough.
    pub(crate) fn job(&self, verb: &'static str, name: &str) -> Bar {
        match &self.bars {
            Some(bars) => {
                let template = bar::job_template(self.columns, self.color);
                Bar::on_terminal(bars, &template, verb, name, 0).ticking()
            }
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

/// The last `count` lines, indented: the end of what another program said.
pub(crate) fn last_lines<'t>(lines: impl Iterator<Item = &'t str>, count: usize) -> String {
    let lines: Vec<&str> = lines.collect();
    let last = &lines[lines.len().saturating_sub(count)..];
    last.iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// What mends an error of fetching, as docs/errors.md says it.
pub(crate) fn mend_of(error: &crate::fetch::Error) -> &'static str {
    catalogue::of_cause(error).map_or("", |known| known.mend)
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
