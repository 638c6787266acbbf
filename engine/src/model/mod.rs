//! Models: what they are, their tensors, and the graph that computes them.

mod config;
mod counts;
mod forward;
pub(crate) mod keys;
pub(crate) mod weights;

pub use config::{Architecture, Config, Experts, Rope, RopePairs};
pub use counts::{CountsError, ExpertCounts};
pub use forward::{Batch, Turns};
pub use weights::{Attention, FeedForward, Layer, Weights};

use crate::backend::Backend;
use crate::gguf::{self, Gguf};
use std::sync::Arc;

/// Why a model cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its file.
    #[error(transparent)]
    Gguf(#[from] gguf::Error),
    /// Whoever is to compute it.
    #[error(transparent)]
    Backend(Box<dyn std::error::Error + Send + Sync>),
}

impl LoadError {
    fn backend(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Backend(Box::new(error))
    }
}

/// A model on a backend, ready to run.
pub struct Model<B: Backend> {
    config: Config,
    weights: Weights<B>,
    backend: B,
}

impl<B: Backend> Model<B> {
    /// Loads a model.
    ///
    /// # Errors
    /// What its file lacks or has wrong, and what the backend cannot hold.
    pub fn load(gguf: &Arc<Gguf>, backend: B) -> Result<Self, LoadError> {
        let config = Config::new(gguf)?;
        let weights = Weights::load(gguf, &config, &backend)?;
        Ok(Self { config, weights, backend })
    }

    /// What it is.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Room for `slots` sequences of `context` tokens each.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn cache(&self, slots: usize, context: usize) -> Result<B::Cache, B::Error> {
        let Config { layers, kv_heads, head_dim, .. } = self.config;
        self.backend.cache(layers, slots, context, kv_heads, head_dim)
    }
}
