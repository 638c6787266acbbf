//! From a bare machine to a verified release of the Strata engine and the Aiter kernels: `cargo xtask --help`.

mod build;
mod children;
mod cli;
mod clock;
mod commands;
mod digest;
mod dist;
mod fetch;
mod files;
mod host;
mod lock;
mod store;
mod ui;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    if let cli::Command::Compile(command) = &cli.command {
        return command.run();
    }
    children::die_with_this_process();
    ui::install_interrupt_handler();
    let ui = cli.ui();
    match commands::run(&cli, &ui) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let failure = ui::Failure::of(&error);
            match ui.is_json() {
                true => println!("{}", ui::render_json(&error, &failure)),
                false => eprint!("{}", ui::render(&error, &failure, ui.has_color())),
            }
            ExitCode::from(failure.exit as u8)
        }
    }
}
