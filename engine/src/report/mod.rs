//! The report: gathered first, printed second.

mod gather;
mod human;

pub use gather::gather;
pub use human::human;

use crate::device::DeviceReport;
use crate::plan::Plan;
use crate::selftest::Check;
use serde::Serialize;
use std::path::PathBuf;

/// The version of the JSON form. It grows when a key changes its meaning or goes; a new key does not change it.
pub const SCHEMA: u32 = 1;

/// What is to be found out.
#[derive(Debug, Clone)]
pub struct Request {
    /// How much.
    pub mode: Mode,
    /// Where the code objects lie.
    pub kernels: PathBuf,
    /// The folder that the HIP runtime has to come from.
    pub expect_loaded: Option<PathBuf>,
}

/// How much is to be found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Every device, and nothing is computed.
    ListDevices,
    /// The first device and its memory plan.
    Device,
    /// All of it.
    Selftest,
}

/// What was found out. This is the JSON form, key by key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of this program.
    pub version: &'static str,
    /// What was asked.
    pub mode: Mode,
    /// The HIP runtime.
    pub runtime: RuntimeReport,
    /// ROCm's libraries in this process, whoever loaded them.
    pub libraries: Vec<PathBuf>,
    /// The targets that this release has code for.
    pub compiled_for: Vec<&'static str>,
    /// Every device the runtime lists, in its order.
    pub devices: Vec<DeviceReport>,
    /// The first device's memory, where it was asked.
    pub memory: Option<Memory>,
    /// The memory plan, where there is a device to plan for.
    pub plan: Option<Plan>,
    /// What was checked, failed, or was skipped.
    pub checks: Vec<Check>,
    /// What the program ends with.
    pub exit_code: u8,
}

/// The HIP runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum RuntimeReport {
    /// It was loaded.
    Loaded {
        /// From where; Windows may prefer another than the release's (facts/strata.md 4.3).
        path: Option<PathBuf>,
        /// `hipDriverGetVersion`.
        driver_version: Option<i32>,
        /// `hipRuntimeGetVersion`.
        runtime_version: Option<i32>,
    },
    /// There is none, or it finds no driver.
    Missing {
        /// What was tried, and what came of it.
        reason: String,
    },
}

/// Memory of a device, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// All of it.
    pub total: u64,
    /// Not in use.
    pub free: u64,
}

/// The report as one JSON object.
pub fn json(report: &Report) -> String {
    match serde_json::to_string_pretty(report) {
        Ok(text) => text + "\n",
        // The only fallible members are paths that are no Unicode.
        Err(error) => format!("{}\n", serde_json::json!({ "schema": SCHEMA, "error": error.to_string() })),
    }
}
