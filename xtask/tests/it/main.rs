//! xtask as its users meet it: real processes, real archives over a local server, real compilers.

mod archives;
mod bootstrap;
mod build;
mod cli;
mod crash;
mod download;
mod release;
mod support;
mod tidy;
mod wheel;
