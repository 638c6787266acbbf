//! Models: what they are, their tensors, and the graph that computes them.

mod config;
mod forward;
mod weights;

pub use config::{Architecture, Config, Experts, Rope, RopePairs};
pub use forward::{Batch, Turns};
pub use weights::{Attention, FeedForward, Layer, Weights};

use crate::backend::Backend;
use crate::gguf::{Error, Gguf};
use std::sync::Arc;

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
    /// What its file lacks or has wrong.
    pub fn load(gguf: &Arc<Gguf>, backend: B) -> Result<Self, Error> {
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
