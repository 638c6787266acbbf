//! `strata-device`: what the GPUs of this machine are, and whether this release runs on them.

use clap::Parser;
use engine::cli::Cli;
use engine::report;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let report = report::gather(&cli.request());
    let (out, talk) = if cli.json { (report::json(&report), String::new()) } else { report::human(&report) };
    // A reader that went away has seen all it wanted; the exit code still says how it went.
    let _ = std::io::stdout().write_all(out.as_bytes());
    let _ = std::io::stderr().write_all(talk.as_bytes());
    ExitCode::from(report.exit_code)
}
