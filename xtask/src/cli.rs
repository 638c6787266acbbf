//! The whole user interface on one page.

use crate::commands;
use crate::ui::{Color, OutputFormat, Ui, Verbosity};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// From a bare machine to a verified release of the Strata engine and the Aiter kernels
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Toolchain of toolchains.lock to use
    #[arg(long, global = true, env = "STRATA_TOOLCHAIN", default_value = default_toolchain(), value_name = "NAME")]
    pub(crate) toolchain: String,
    /// Folder of the store [default: `store` in the workspace]
    #[arg(long, global = true, env = "STRATA_STORE", value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Refuse to change toolchains.lock
    #[arg(long, global = true)]
    pub(crate) locked: bool,
    /// Write for a person or for a program: one JSON object a line on stdout
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Say more
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Say only errors and results
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// The release toolchain on Windows; the small one where it exists.
fn default_toolchain() -> &'static str {
    if cfg!(windows) { "therock-10.0.0" } else { "lite" }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Download, verify and unpack the toolchain into the store
    Bootstrap(commands::Bootstrap),
    /// Build the components for each target into artifact folders
    Build(commands::Build),
    /// Pack the artifacts of each target into a checked release
    Dist(commands::Dist),
    /// Bootstrap, build and dist in one go
    Release(commands::Release),
    /// Say what this machine has and what is missing, with the command that mends it
    Doctor(commands::Doctor),
    /// Compare a store entry, an artifact folder, a release or a zip with its recorded hashes
    Verify(commands::Verify),
    /// Show, check or extend toolchains.lock
    Lock(commands::Lock),
    /// Save every archive that the toolchain needs, for a machine without a network
    Mirror(commands::MirrorCommand),
    /// List or verify what is in the store
    Store(commands::StoreCommand),
    #[command(hide = true)]
    Compile(commands::Compile),
}

impl Cli {
    /// The voice that the options ask for.
    pub(crate) fn ui(&self) -> Ui {
        let verbosity = match (self.global.quiet, self.global.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        Ui::new(self.global.format, verbosity, self.global.color)
    }
}
