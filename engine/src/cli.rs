//! The command line of `strata-device`.

use crate::report::{Mode, Request};
use clap::Parser;
use std::path::PathBuf;

/// What the GPUs of this machine are, and whether this release runs on them.
///
/// Without a flag: the first visible device and the memory plan for it.
/// Exit codes: 0 all is well, 1 a check failed or the plan does not fit, 2 usage, 6 no HIP runtime or no GPU.
#[derive(Debug, Parser)]
#[command(name = "strata-device", version, about, long_about)]
pub struct Cli {
    /// List every device that the HIP runtime sees, with its number
    #[arg(long, conflicts_with = "selftest")]
    pub list_devices: bool,

    /// Check the code objects and the memory plan and, with a GPU, compute on it and compare with the CPU
    #[arg(long)]
    pub selftest: bool,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Where the code objects lie, as DIR/TARGET/COMPONENT/NAME.co [default: kernels, beside this program]
    #[arg(long, value_name = "DIR")]
    pub kernels: Option<PathBuf>,

    /// Fail unless the HIP runtime was loaded from DIR: on Windows a driver's copy can shadow the release's
    #[arg(long, value_name = "DIR")]
    pub expect_loaded: Option<PathBuf>,
}

impl Cli {
    /// What is asked of [`crate::report::gather`].
    pub fn request(&self) -> Request {
        let mode = match (self.list_devices, self.selftest) {
            (true, _) => Mode::ListDevices,
            (_, true) => Mode::Selftest,
            _ => Mode::Device,
        };
        let kernels = self.kernels.clone().unwrap_or_else(|| {
            let program = std::env::current_exe().unwrap_or_default();
            program.with_file_name("kernels")
        });
        Request { mode, kernels, expect_loaded: self.expect_loaded.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
