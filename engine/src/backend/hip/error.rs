//! What can go wrong on a card.

use crate::catalogue;
use hip::{CallError, LoadError};

/// Why a card does not compute.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no HIP runtime.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The runtime refused.
    #[error("device {device}: {source}")]
    Call {
        /// HIP's number.
        device: u32,
        /// What it said.
        source: CallError,
    },
    /// Attention, norm, rotation or activation refused.
    #[error("device {device}: {source}")]
    Kernels {
        /// HIP's number.
        device: u32,
        /// What was said.
        source: aiter_kernels::interface::Error,
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
    #[error("device {device}: {source}")]
    Target {
        /// HIP's number.
        device: u32,
        /// Why its name was refused.
        source: gfx::ParseError,
    },
    /// No card was named.
    #[error("there is no card to compute on")]
    NoCard,
    /// More experts than the routing kernel takes.
    #[error("{count} experts are more than the {most} that the kernels take")]
    Experts {
        /// How many there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
}
