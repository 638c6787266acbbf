//! What a release takes from a ROCm dist: the libraries of the closure, their kernel libraries for the release's targets, and nothing else.

mod kernels;
mod layout;
mod tree;

pub(crate) use kernels::{Count, KernelFolder, serves_one, sort_kernels};
pub(crate) use layout::{library_folder, place_below_rocm, place_of_library};
pub(crate) use tree::RocmTree;
