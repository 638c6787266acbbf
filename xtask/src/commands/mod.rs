//! One file a command; each tells a short story with the modules of the tool.

mod bootstrap;
mod build;
mod compile;
mod dist;
mod doctor;
mod lock;
mod mirror;
mod release;
mod session;
mod store;
mod verify;

pub(crate) use bootstrap::Bootstrap;
pub(crate) use build::Build;
pub(crate) use compile::Compile;
pub(crate) use dist::Dist;
pub(crate) use doctor::Doctor;
pub(crate) use lock::Lock;
pub(crate) use mirror::MirrorCommand;
pub(crate) use release::Release;
pub(crate) use session::{MissingPrerequisite, NativeError, Session};
pub(crate) use store::StoreCommand;
pub(crate) use verify::Verify;

use crate::cli::{Cli, Command};
use crate::ui::Ui;

/// Runs the command that the user typed.
pub(crate) fn run(cli: &Cli, ui: &Ui) -> anyhow::Result<()> {
    let session = Session::open(&cli.global, ui)?;
    match &cli.command {
        Command::Bootstrap(command) => command.run(&session),
        Command::Build(command) => command.run(&session),
        Command::Dist(command) => command.run(&session),
        Command::Release(command) => command.run(&session),
        Command::Doctor(command) => command.run(&session),
        Command::Verify(command) => command.run(&session),
        Command::Mirror(command) => command.run(&session),
        Command::Lock(command) => command.run(&session),
        Command::Store(command) => command.run(&session),
        Command::Compile(_) => Ok(()),
    }
}
