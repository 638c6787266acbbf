//! Verified bytes: from a package's sources to an unpacked tree whose every byte was hashed on the way.

mod archive;
mod channel;
mod connection;
mod error;
mod feed;
mod http;
mod mirror;
mod package;
mod partial;
mod pieces;
mod pipeline;
mod ranges;
mod redirect;
mod retry;

pub(crate) use archive::{Format, Limits, Refusal, TreeWriter, unpack_stream, unpack_zip};
pub(crate) use channel::deb::Mirrors;
pub(crate) use channel::{check_client, download_to};
pub(crate) use error::{Error, UrlError};
pub(crate) use http::check_url;
pub(crate) use mirror::{Mirror, path_below as path_in_mirror};
pub(crate) use package::{Context, Places, Timing, fetch_package, save_package};
pub(crate) use partial::{exists as has_partial, forget as forget_partial};
pub(crate) use redirect::RedirectError;
