//! `toolchains.lock`: every byte that is downloaded, pinned by size and sha256.

mod error;
mod model;
mod parse;
mod select;
mod system;
mod version;
mod write;

pub(crate) use error::Error;
pub(crate) use model::{Archive, Channel, Host, Lock, Measured, Package, Part, Source, Toolchain, TreeFacts};
pub(crate) use parse::{load, parse};
pub(crate) use select::{Selected, select};
pub(crate) use system::SYSTEM;
pub(crate) use version::compare as compare_versions;
pub(crate) use write::{render_package, upsert_package};
