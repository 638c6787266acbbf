//! The self-test: what can be checked without a GPU, and what a GPU computes.

mod handoff;
mod offline;
mod on_device;
mod product;
mod sample;

pub use offline::checks as offline_checks;
pub use on_device::{NAMES as DEVICE_CHECKS, checks as device_checks};

use serde::Serialize;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What.
    pub name: &'static str,
    /// How it went.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// How a check went, and what there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", content = "detail", rename_all = "lowercase")]
pub enum Outcome {
    /// It is as it should be.
    Passed(String),
    /// It is not.
    Failed(String),
    /// It was not looked at: nothing is known.
    Skipped(String),
}

impl Check {
    /// A check that went one of two ways.
    pub fn of(name: &'static str, result: Result<String, String>) -> Self {
        let outcome = match result {
            Ok(detail) => Outcome::Passed(detail),
            Err(reason) => Outcome::Failed(reason),
        };
        Self { name, outcome }
    }

    /// A check that was not made.
    pub fn skipped(name: &'static str, reason: &str) -> Self {
        Self { name, outcome: Outcome::Skipped(reason.to_owned()) }
    }

    /// Whether it failed.
    pub fn is_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_))
    }
}
