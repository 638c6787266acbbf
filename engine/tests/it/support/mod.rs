//! GGUF files that the tests write themselves.

mod file;
mod model;

pub(crate) use file::{Builder, Field};
pub(crate) use model::tiny;
