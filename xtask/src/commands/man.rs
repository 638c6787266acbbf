//! `cargo xtask man`

use super::Session;
use crate::cli::Cli;
use crate::files::{self, Named};
use clap::{Args, CommandFactory};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Write man pages, one for each command
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder that they are written to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Man {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        files::create_folder(&self.out)?;
        let mut written = Vec::new();
        write_pages(&Cli::command(), "cargo-xtask", &self.out, &mut written)?;
        session.ui.data(&written.join("\n"), &json!({"pages": written}));
        Ok(())
    }
}

/// The page of `command` and those of its subcommands.
fn write_pages(
    command: &clap::Command,
    name: &str,
    out: &Path,
    written: &mut Vec<String>,
) -> Result<(), files::Error> {
    let path = out.join(format!("{name}.1"));
    let typed = name.replacen("cargo-", "cargo ", 1).replace("xtask-", "xtask ");
    let page = clap_mangen::Man::new(command.clone().display_name(name).bin_name(typed)).title(name);
    let mut text = Vec::new();
    page.render(&mut text).named("write", &path)?;
    files::write_whole(&path, &text)?;
    written.push(path.display().to_string());
    let mut shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown
        .try_for_each(|command| write_pages(command, &format!("{name}-{}", command.get_name()), out, written))
}
