//! What lets a careful user check a release: where everything in it comes from, in the forms that others read.

mod crates;
mod cyclonedx;
mod list;
mod notice;
mod packages;
mod provenance;
mod spdx;
mod subject;

pub(crate) use crates::{Crate, crate_licences, crates_of};
pub(crate) use cyclonedx::cyclonedx;
pub(crate) use list::{FILES_FILE, file_list};
pub(crate) use notice::notice;
pub(crate) use packages::{Download, scoop, winget};
pub(crate) use provenance::{PROVENANCE_FILE, Source, provenance};
pub(crate) use spdx::spdx;
pub(crate) use subject::Subject;

use archive::{Timestamp, civil};

/// `2026-11-30T05:58:44Z`
fn rfc3339(time: Timestamp) -> String {
    let (year, month, day) = civil(time.0.div_euclid(86_400));
    let second = time.0.rem_euclid(86_400);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// A JSON document as it stands in a file.
fn pretty(value: &serde_json::Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}
