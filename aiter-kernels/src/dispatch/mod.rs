//! From a problem to its launches: which instance, how many splits, which grid. Pure functions of the problem's shape and the device; nothing
//! here asks the machine or touches memory.
//!
//! - [`attention`]: dense, varlen and paged attention; one query a sequence over a paged cache becomes split-KV and combine
//! - [`row_wise`]: gated activations, norms, quantisation and rotary embeddings
//! - [`append_kv`]: new rows into a cache
//! - [`Device`]: a target and its compute units, with the WGP trap and `CU_NUM` taken care of
//! - [`environment`]: the variables that Aiter reads, with their upstream meaning

mod attention;
mod device;
pub mod environment;
mod error;
mod launch;
mod row_wise;

pub use attention::{AttentionPlan, AttentionProblem, Layout, Window, attention};
pub use device::Device;
pub use error::DispatchError;
pub use launch::Launch;
pub use row_wise::{append_kv, row_wise};
