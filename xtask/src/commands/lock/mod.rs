//! `cargo xtask lock`

mod add;
mod check;
mod measure;
mod show;
mod update;

pub(crate) use check::CheckError;

use super::Session;
use clap::{Args, Subcommand};

/// Show, check, extend or update toolchains.lock
#[derive(Debug, Args)]
pub(crate) struct Lock {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the toolchains and packages of the lock
    Show,
    /// Check the lock's form; with --online, measure every source of the toolchain again and compare
    Check(check::Check),
    /// Download archives, measure them and write them into the lock as one package
    Add(add::Add),
    /// Show what a newer version would change, and write it
    Update(update::Update),
}

impl Lock {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        match &self.action {
            Action::Show => show::show(session),
            Action::Check(check) => check.run(session),
            Action::Add(add) => add.run(session),
            Action::Update(update) => update.run(session),
        }
    }
}
