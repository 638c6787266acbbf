//! Archives that are a function of their members: the same members give the same bytes on every machine, with any number of cores.
//!
//! Members are written in the order in which they are given, all with one time and with fixed attributes. [`write_zip`] deflates on all cores:
//! content is cut into chunks of a fixed size, each of which is compressed with the chunk before it as its dictionary, so the result depends
//! on the content alone. [`write_tar_zst`] leaves the same to zstd.

mod deflate;
mod member;
mod tar_zst;
mod time;
mod zip;

pub use member::{Content, Error, Member};
pub use tar_zst::write_tar_zst;
pub use time::{Timestamp, civil};
pub use zip::write_zip;
