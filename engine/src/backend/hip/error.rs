//! What can go wrong on a card.

use crate::catalogue;
use hip::{CallError, LoadError};

/// Why a card does not compute. What a library said is part of the message, so that one line of a log has it all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no HIP runtime.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The runtime refused.
    #[error("device {device}: {why}")]
    Call {
        /// HIP's number.
        device: u32,
        /// What it said.
        why: CallError,
    },
    /// Attention, norm, rotation or activation refused.
    #[error("device {device}: {why}")]
    Kernels {
        /// HIP's number.
        device: u32,
        /// What was said.
        why: aiter_kernels::interface::Error,
    },
    /// hipBLASLt refused.
    #[error("device {device}: {why}")]
    Blas {
        /// HIP's number.
        device: u32,
        /// What it said.
        why: hip::BlasError,
    },
    /// The code objects cannot be read.
    #[error(transparent)]
    Catalogue(#[from] catalogue::Error),
    /// A code object is missing or broken.
    #[error("device {device} ({target}) has no code object `engine/{name}.co`: {reason}")]
    CodeObject {
        /// HIP's number.
        device: u32,
        /// Its target.
        target: gfx::Target,
        /// Which one.
        name: &'static str,
        /// Why.
        reason: String,
    },
    /// A device that is no target of this project.
    #[error("device {device}: {why}")]
    Target {
        /// HIP's number.
        device: u32,
        /// Why its name was refused.
        why: gfx::ParseError,
    },
    /// No card was named.
    #[error("there is no card to compute on")]
    NoCard,
}
