//! Attention, activations, norms, RoPE, appendkv and quantisation for AMD RDNA3, RDNA3.5 and RDNA4; attention on Composable Kernel.
//!
//! - [`catalogue`]: the kernels there are, one typed table from which the build, the launcher and the tests are derived
//! - [`args`]: the argument blocks that the kernels take, byte for byte
//! - [`dispatch`]: from a problem and a device to the launches
//! - [`reference`]: each operation on the CPU, for tests and for machines without a GPU
//! - [`interface`]: tensors and calls; what a program uses
//! - [`c_abi`]: the same for C, C++ and the Python package in `python/`
//!
//! The kernels themselves are the CMake project in `native/`.

pub mod args;
pub mod c_abi;
pub mod catalogue;
pub mod dispatch;
pub mod interface;
pub mod reference;

/// The Rust examples of the page are tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/interfaces.md")]
struct Docs;
