//! Visual Studio and the Windows SDK: every installation with a verdict, and the environment of the best one.
//!
//! TheRock's clang for Windows compiles against Microsoft's C++ library and links with its import libraries, so a build with it needs both
//! (facts/therock.md 5). What is found is judged by pure functions over folders; only [`ask`] starts programs and reads the registry.

mod ask;
mod environment;
mod error;
mod instance;
mod record;
#[cfg(test)]
mod tests;
mod toolset;
mod vcvars;
mod windows_sdk;

pub(crate) use ask::{developer_environment, survey};
pub(crate) use environment::DeveloperEnvironment;
pub(crate) use error::{Error, Refusal};
pub(crate) use instance::Instance;
pub(crate) use toolset::{ClangHeaders, Toolset};
pub(crate) use windows_sdk::WindowsSdk;

use crate::host::version::numbers;

/// Everything that this machine has of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Each installation, in the order in which they were found.
    pub(crate) candidates: Vec<Candidate>,
    /// Each version of the Windows SDK, the newest first.
    pub(crate) sdks: Vec<WindowsSdk>,
    /// Where was looked.
    pub(crate) looked: Vec<String>,
}

/// One installation and what is thought of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The installation.
    pub(crate) instance: Instance,
    /// The toolset that would be used, or why there is none.
    pub(crate) verdict: Result<Toolset, Refusal>,
}

impl Survey {
    /// The newest installation that is good enough; a preview only where nothing else is.
    pub(crate) fn chosen(&self) -> Option<(&Instance, &Toolset)> {
        let usable = self.candidates.iter().filter_map(|c| Some((&c.instance, c.verdict.as_ref().ok()?)));
        usable.max_by_key(|(instance, _)| (!instance.is_preview, numbers(&instance.version)))
    }

    /// The newest Windows SDK that is whole.
    pub(crate) fn sdk(&self) -> Option<&WindowsSdk> {
        self.sdks.iter().find(|sdk| sdk.missing.is_empty())
    }
}
