//! Files that are not trusted, and `strata` as a process.

mod corpus;
mod gguf;
mod programs;
mod serve;
mod support;
mod vision;
