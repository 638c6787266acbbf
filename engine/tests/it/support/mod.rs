//! GGUF files that the tests write themselves, and a server of one.

mod file;
mod mixed;
mod model;
mod no_runtime;
mod server;

pub(crate) use file::{Builder, Field};
pub(crate) use mixed::{halves, mixed};
pub(crate) use model::tiny;
pub(crate) use no_runtime::no_runtime;
pub(crate) use server::{DEADLINE, Server};
