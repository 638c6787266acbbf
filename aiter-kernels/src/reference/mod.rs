//! Each operation on the CPU: the numbers that the kernels are held to, and what a machine without a GPU computes with.
//!
//! Inputs are in the kernel's type, results are f32, and so are sums, but for the norms'. Rows are shared out over all cores. Nothing is rounded in between, so a
//! kernel that rounds its probabilities to bf16 differs by that rounding.

mod activation;
mod append_kv;
mod attention;
mod e4m3;
mod element;
mod kv_layout;
mod norm;
mod quantise;
mod rope;
mod threads;

pub use activation::{Activation, gated_activation};
pub use append_kv::{AppendKv, append_kv, query_positions};
pub use attention::{Attention, AttentionOutput, Mask, Origin, Sequence, attention, attention_over};
pub use e4m3::E4m3;
pub use element::Element;
pub use kv_layout::KvLayout;
pub use norm::{Norm, NormInputs, norm};
pub use quantise::{Quantised, quantise_per_token};
pub use rope::{Rope, RopeStyle, rope};

/// An argument that does not fit the others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{argument}: expected {expected}, found {found}")]
pub struct ShapeError {
    /// The argument's name in the call.
    pub argument: &'static str,
    /// What the other arguments ask for.
    pub expected: String,
    /// What it is.
    pub found: String,
}

impl ShapeError {
    fn length(argument: &'static str, expected: usize, found: usize) -> Result<(), Self> {
        if expected == found {
            return Ok(());
        }
        Err(Self { argument, expected: format!("{expected} elements"), found: found.to_string() })
    }

    fn at_least(argument: &'static str, expected: usize, found: usize) -> Result<(), Self> {
        if found >= expected {
            return Ok(());
        }
        Err(Self { argument, expected: format!("at least {expected}"), found: found.to_string() })
    }
}
