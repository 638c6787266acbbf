//! `strata`: text from a model in a GGUF file, on the command line or over HTTP.

mod bench;
mod check;
mod cli;
mod generate;
mod interrupt;
mod open;
mod plan;
mod serve;

use clap::Parser;
use cli::{Cli, Command};
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
    };
    done.unwrap_or_else(|error| {
        eprint!("error: {error}");
        error.chain().skip(1).for_each(|cause| eprint!("\n  caused by: {cause}"));
        eprintln!();
        ExitCode::FAILURE
    })
}
