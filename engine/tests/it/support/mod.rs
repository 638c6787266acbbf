//! GGUF files that the tests write themselves.

mod file;
mod mixed;
mod model;

pub(crate) use file::{Builder, Field};
pub(crate) use mixed::{halves, mixed};
pub(crate) use model::tiny;
