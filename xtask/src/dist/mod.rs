//! From artifacts to releases: what goes in, the archive, the evidence beside it, and the check of what came out.

mod authenticode;
mod bundle;
mod check;
mod closure;
mod compare;
mod error;
mod evidence;
mod licences;
mod member;
mod merge;
mod outputs;
mod platform_tag;
mod publish;
mod readme;
mod release;
mod rocm;
mod runtime;
mod sign;
mod sums;
#[cfg(test)]
mod tests;
mod twice;
mod wheel;

pub(crate) use archive::{Timestamp, civil};
pub(crate) use authenticode::Signer;
pub(crate) use bundle::{Bundle, Parts, plan_bundle};
pub(crate) use check::{verify_archive, verify_entry, verify_folder};
pub(crate) use error::Error;
pub(crate) use evidence::{Crate, Source, crates_of};
pub(crate) use licences::collect as collect_licences;
pub(crate) use merge::merge;
pub(crate) use publish::{
    Published, package_manifests, publish, publish_merged, write_provenance, write_sums,
};
pub(crate) use release::ReleaseManifest;
pub(crate) use rocm::RocmTree;
pub(crate) use sign::{SigningKey, check_sums};
pub(crate) use sums::{SUMS_FILE, Sums};
pub(crate) use twice::{Twice, build_twice};
pub(crate) use wheel::{WheelParts, plan_wheel};
