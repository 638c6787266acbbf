//! What is thought of a machine, line by line: pure functions of [`Machine`].

mod graphics;
mod studio;
mod surroundings;
#[cfg(test)]
mod tests;
mod toolchain;

use super::machine::Machine;
use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// As it should be.
    Ok,
    /// Something may go wrong, or be missed.
    Warning,
    /// The main job cannot run: bootstrap, build and dist with the chosen toolchain.
    Problem,
}

impl Verdict {
    /// As it is printed.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// What it is about: `toolchain`, `sdk`, `gpu`, `runtime`, `visual-studio`, `windows-sdk`, `program`, `disk`, `path`, `memory`, `variable`, `proxy`.
    pub(crate) topic: &'static str,
    /// How bad it is.
    pub(crate) verdict: Verdict,
    /// The finding.
    pub(crate) what: String,
    /// The one command that mends it, where there is one.
    pub(crate) mend: Option<String>,
}

impl Check {
    fn ok(topic: &'static str, what: impl Into<String>) -> Self {
        Self { topic, verdict: Verdict::Ok, what: what.into(), mend: None }
    }

    fn warning(topic: &'static str, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { topic, verdict: Verdict::Warning, what: what.into(), mend: Some(mend.into()) }
    }

    fn problem(topic: &'static str, what: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { topic, verdict: Verdict::Problem, what: what.into(), mend: Some(mend.into()) }
    }
}

/// All of them, in the order in which a newcomer needs them.
pub(crate) fn checks(machine: &Machine) -> Vec<Check> {
    let mut checks = toolchain::checks(machine);
    checks.extend(studio::checks(machine));
    checks.extend(toolchain::programs(machine));
    checks.extend(graphics::checks(machine));
    checks.extend(surroundings::checks(machine));
    checks
}
