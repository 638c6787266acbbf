//! Verified bytes: from a package's sources to an unpacked tree whose every byte was hashed on the way.

mod archive;
mod channel;
mod error;
mod http;
mod package;
mod pipeline;

pub(crate) use archive::{Format, Refusal, TreeWriter, unpack_zip};
pub(crate) use channel::deb::{Mirrors, read_machine_sources};
pub(crate) use channel::download_to;
pub(crate) use error::{Error, UrlError};
pub(crate) use http::check_url;
pub(crate) use package::{Context, fetch_package};
