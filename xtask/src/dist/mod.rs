//! From artifacts to releases: what goes in, the deterministic zip, and the check of what came out.

mod bundle;
mod check;
mod error;
mod licences;
mod readme;
mod release;
mod sums;
mod wheel;
mod zip;

pub(crate) use bundle::{Bundle, Parts as BundleParts, plan_bundle};
pub(crate) use check::{check_release, verify_entry, verify_folder, verify_zip};
pub(crate) use error::Error;
pub(crate) use licences::collect as collect_licences;
pub(crate) use readme::readme;
pub(crate) use release::ReleaseManifest;
pub(crate) use sums::{SUMS_FILE, Sums};
pub(crate) use wheel::{WheelParts, plan_wheel};
pub(crate) use zip::{Timestamp, civil, write as write_zip};
