//! The argument blocks that the kernels take by value, and the geometry that they carry, byte for byte as `native/` declares them.
//!
//! All of them are little-endian and hold device addresses as [`DevicePtr`]. The sizes are asserted at compile time on both sides, and
//! every code object repeats its own in its geometry symbol, so a host that was built against another layout notices before it launches.

mod activation;
mod append_kv;
mod fmha_combine;
mod fmha_fwd;
mod fmha_paged;
mod fmha_split_kv;
mod geometry;
mod norm;
mod quantise;
mod rope;

pub use activation::ActivationArgs;
pub use append_kv::AppendKvArgs;
pub use fmha_combine::FmhaCombineArgs;
pub use fmha_fwd::FmhaFwdArgs;
pub use fmha_paged::FmhaPagedArgs;
pub use fmha_split_kv::FmhaSplitKvArgs;
pub use geometry::{Geometry, GeometryError};
pub use norm::NormArgs;
pub use quantise::QuantiseArgs;
pub use rope::RopeArgs;

/// An address in device memory; 0 is null.
pub type DevicePtr = u64;
