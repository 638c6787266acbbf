//! Files that are not trusted, and `strata` as a process.

mod corpus;
mod gguf;
mod programs;
mod serve;
#[allow(dead_code, unused_imports)] // The tests of xtask use more of it.
mod support;
mod vision;
