//! From a bare machine to a verified release of the Strata engine and the Aiter kernels: `cargo xtask --help`.

mod address;
mod build;
mod children;
mod cli;
mod clock;
mod commands;
#[cfg(test)]
mod data_flow;
mod digest;
mod dist;
mod fetch;
mod files;
mod host;
mod lock;
mod store;
mod ui;

use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = parse();
    if let cli::Command::Compile(command) = &cli.command {
        return command.run();
    }
    children::die_with_this_process();
    ui::install_interrupt_handler();
    let ui = cli.ui();
    ui::install_panic_report(commands::workspace_root(), cli.command.name(), ui.is_json());
    match commands::run(&cli, &ui) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let failure = ui::Failure::of(&error);
            ui.failed(&error, &failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// The command line; a mistake in it ends the process with code 2.
fn parse() -> cli::Cli {
    let color = ui::Color::of_arguments(std::env::args_os().skip(1));
    let matches = cli::Cli::command().color(color.into()).try_get_matches();
    let parsed = matches.and_then(|matches| cli::Cli::from_arg_matches(&matches));
    parsed.unwrap_or_else(|error| without_secrets(error).exit())
}

/// clap repeats a value that it refuses, and an address may hold a password.
fn without_secrets(mut error: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue};
    for kind in [ContextKind::InvalidValue, ContextKind::InvalidArg, ContextKind::InvalidSubcommand] {
        if let Some(ContextValue::String(value)) = error.get(kind)
            && value.contains("://")
        {
            let shown = ContextValue::String(address::shown(value));
            error.insert(kind, shown);
        }
    }
    error
}
