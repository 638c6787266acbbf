//! One file a command; each tells a short story with the modules of the tool.

mod bootstrap;
mod build;
mod checklist;
mod checkout;
mod compile;
mod completions;
mod dist;
mod doctor;
mod env;
mod explain;
mod lock;
mod man;
mod mirror;
mod release;
mod session;
mod store;
mod verify;

pub(crate) use bootstrap::Bootstrap;
pub(crate) use build::Build;
pub(crate) use checklist::{Checklist, NotReady};
pub(crate) use compile::Compile;
pub(crate) use completions::Completions;
pub(crate) use dist::Dist;
pub(crate) use doctor::Doctor;
pub(crate) use env::Env;
pub(crate) use lock::{CheckError, Lock};
pub(crate) use man::Man;
pub(crate) use mirror::MirrorCommand;
pub(crate) use release::Release;
pub(crate) use session::{MissingPrerequisite, NativeError, Session, Usage, workspace_root};
pub(crate) use store::StoreCommand;
pub(crate) use verify::{SimulationFailed, Verify};

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
        Command::Env(command) => command.run(&session),
        Command::Completions(command) => command.run(&session),
        Command::Man(command) => command.run(&session),
        Command::Checklist(command) => command.run(&session),
        Command::Compile(_) => Ok(()),
    }
}
