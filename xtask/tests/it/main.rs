//! xtask as its users meet it: real processes, real archives over a local server, real compilers.

mod bootstrap;
mod build;
mod cli;
mod download;
mod emulate;
mod release;
mod support;
mod tidy;
