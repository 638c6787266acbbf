//! xtask as its users meet it: real processes, real archives over a local server, real compilers.

mod archives;
mod bootstrap;
mod build;
mod cli;
mod crash;
mod dependencies;
mod dist;
mod dist_check;
mod dist_signed;
mod doctor;
mod download;
mod lock;
mod places;
mod project;
mod ranges;
mod release;
mod shells;
mod support;
mod system;
mod talk;
mod terminal;
mod tidy;
mod tls;
mod wheel;
