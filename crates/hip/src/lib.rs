//! The HIP runtime, loaded while the program runs.
//!
//! Nothing is linked against ROCm, so a program with this crate starts on a PC that has no AMD driver and can say so. The runtime comes with the
//! driver or lies beside the program: see [`Runtime::load`].
#![allow(unsafe_code)] // This crate is the border to a C library; all `unsafe` of the hosts lives here.

mod api;
mod blas_lt;
mod device;
mod error;
mod graph;
mod image;
mod library;
mod loaded;
mod mapped;
mod memory;
mod module;
mod runtime;
mod stream;

pub use blas_lt::{BlasElement, BlasError, BlasLt, BlasProduct};
pub use device::Device;
pub use error::{Attempt, CallError, LoadError};
pub use graph::Graph;
pub use loaded::loaded_libraries;
pub use mapped::MappedWords;
pub use memory::{DeviceBuffer, MemoryInfo};
pub use module::{Arguments, Function, Launch, Module};
pub use runtime::{Entered, Runtime};
pub use stream::Stream;
