//! The time as it is written into locks and receipts. Nothing of it ever gets into a release.

use std::time::SystemTime;

/// Now, UTC, as `2026-11-30T09:44:32Z`.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The day in UTC, as `2026-11-30`.
pub(crate) fn today() -> String {
    now().chars().take(10).collect()
}
