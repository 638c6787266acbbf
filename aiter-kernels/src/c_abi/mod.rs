//! The C interface: what `include/aiter_kernels.h` declares, which cbindgen writes from here.
//!
//! Each function checks what C cannot promise (null, negative sizes) and calls [`crate::interface`], which checks the rest. Rust sees memory of C
//! as cells, so an output may be an input as well.
#![allow(unsafe_code)] // The border to C: a pointer is as good as its caller.

mod attention;
mod cache;
mod kernels;
mod row_wise;
mod status;
mod tensor;

pub use attention::*;
pub use cache::*;
pub use kernels::{
    AITER_ABI_VERSION, AiterKernels, aiter_abi_version, aiter_close, aiter_open, aiter_version,
};
pub use row_wise::*;
pub use status::*;
pub use tensor::*;
