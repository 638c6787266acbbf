//! The whole user interface on one page.

mod examples;

use crate::commands;
use crate::ui::{Color, OutputFormat, Surroundings, Ui, Verbosity};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// From a bare machine to a verified release of the Strata engine and the Aiter kernels
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, max_term_width = 100, after_long_help = examples::ALL)]
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
    /// The same as `--format json`
    #[arg(long, global = true)]
    pub(crate) json: bool,
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
    #[command(after_long_help = examples::BOOTSTRAP)]
    Bootstrap(commands::Bootstrap),
    /// Build the components for each target into artifact folders
    #[command(after_long_help = examples::BUILD)]
    Build(commands::Build),
    /// Pack the artifacts of each target into a checked release
    #[command(after_long_help = examples::DIST)]
    Dist(commands::Dist),
    /// Bootstrap, build and dist in one go
    #[command(after_long_help = examples::RELEASE)]
    Release(commands::Release),
    /// Say what this machine has and what is missing, with the command that mends it
    #[command(after_long_help = examples::DOCTOR)]
    Doctor(commands::Doctor),
    /// Compare a store entry, an artifact folder, a release or a zip with its recorded hashes
    #[command(after_long_help = examples::VERIFY)]
    Verify(commands::Verify),
    /// Show, check, extend or update toolchains.lock
    #[command(after_long_help = examples::LOCK)]
    Lock(commands::Lock),
    /// Save every archive that the toolchain needs, for a machine without a network
    #[command(after_long_help = examples::MIRROR)]
    Mirror(commands::MirrorCommand),
    /// List, verify or clean up the store
    #[command(after_long_help = examples::STORE)]
    Store(commands::StoreCommand),
    /// Print the build environment for a shell, an IDE or CMake
    #[command(after_long_help = examples::ENV)]
    Env(commands::Env),
    /// Print completions for a shell
    #[command(after_long_help = examples::COMPLETIONS)]
    Completions(commands::Completions),
    /// Write man pages, one for each command
    #[command(after_long_help = examples::MAN)]
    Man(commands::Man),
    /// Say what is missing before a release may be tagged
    #[command(after_long_help = examples::CHECKLIST)]
    Checklist(commands::Checklist),
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
        let format = if self.global.json { OutputFormat::Json } else { self.global.format };
        Ui::new(format, verbosity, self.global.color, &Surroundings::of_process())
    }
}

impl Command {
    /// As it is typed.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Bootstrap(_) => "bootstrap",
            Self::Build(_) => "build",
            Self::Dist(_) => "dist",
            Self::Release(_) => "release",
            Self::Doctor(_) => "doctor",
            Self::Verify(_) => "verify",
            Self::Lock(_) => "lock",
            Self::Mirror(_) => "mirror",
            Self::Store(_) => "store",
            Self::Env(_) => "env",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
            Self::Checklist(_) => "checklist",
            Self::Compile(_) => "compile",
        }
    }
}
