//! What computes: one trait, so that every backend runs the same graph.

pub mod cpu;
pub mod hip;
pub mod layered;

use crate::gguf::{Gguf, Tensor};
use crate::model::{Batch, Experts, Turns};
use std::sync::Arc;

/// Where a token goes: a sequence's slot of the cache and its position there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Which sequence.
    pub slot: usize,
    /// Position in it, from 0; everything before it has been stored.
    pub position: usize,
}

/// What a weight is for: a backend with several places keeps it where that is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The table of tokens.
    Embedding,
    /// A layer, by number: everything but its experts.
    Layer(usize),
    /// The experts of a layer.
    Experts(usize),
    /// The last norm and the output.
    Output,
}

/// The operations of the graph. A buffer holds rows of f32, one a token; the number of rows follows from its length.
pub trait Backend: Send + Sync {
    /// A weight matrix as it is stored, or one an expert.
    type Matrix: Send + Sync;
    /// A vector of f32.
    type Vector: Send + Sync;
    /// Rows of f32.
    type Buffer: Send;
    /// Keys and values of all layers.
    type Cache: Send;
    /// What one step works on: tokens, their places and angles.
    type Step: Send;
    /// What can go wrong while computing.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Takes a matrix of a file: sizes `[columns, rows]` or `[columns, rows, experts]`.
    ///
    /// # Errors
    /// When there is not enough memory for it.
    fn matrix(&self, part: Part, gguf: &Arc<Gguf>, tensor: &Tensor) -> Result<Self::Matrix, Self::Error>;
    /// Takes a vector.
    ///
    /// # Errors
    /// When there is not enough memory for it.
    fn vector(&self, part: Part, numbers: &[f32]) -> Result<Self::Vector, Self::Error>;
    /// Room for keys and values.
    ///
    /// # Errors
    /// When there is not enough memory.
    fn cache(
        &self,
        layers: usize,
        slots: usize,
        context: usize,
        kv_heads: usize,
        head_dim: usize,
    ) -> Result<Self::Cache, Self::Error>;

    /// Runs `work`, whose operations are this backend's, wherever that is best.
    fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R;

    /// Takes what a step works on to where the operations find it.
    ///
    /// # Errors
    /// The backend's, as of all that follow.
    fn step(&self, batch: &Batch, turns: Turns) -> Result<Self::Step, Self::Error>;
    /// Computes `work`, which consists of this backend's operations on `step` and `cache`, and reads the numbers it gives. A backend may keep what it queued and queue it again for
    /// a step of the same shape; where that fails, `work` is called once more.
    #[allow(clippy::missing_errors_doc)]
    fn compute(
        &self,
        cache: &mut Self::Cache,
        step: &Self::Step,
        work: impl Fn(&mut Self::Cache) -> Result<Option<Self::Buffer>, Self::Error>,
    ) -> Result<Vec<f32>, Self::Error>;

    /// Takes rows to where a part is computed, once for all of its operations.
    ///
    /// # Errors
    /// The backend's.
    fn carry(&self, _x: &mut Self::Buffer, _part: Part) -> Result<(), Self::Error> {
        Ok(())
    }
    /// Whether two parts lie in one place, so that a matrix that serves both is needed once.
    fn are_together(&self, _one: Part, _other: Part) -> bool {
        true
    }

    /// The rows of a matrix that the step's tokens name.
    #[allow(clippy::missing_errors_doc)]
    fn embed(&self, table: &Self::Matrix, step: &Self::Step) -> Result<Self::Buffer, Self::Error>;
    /// The rows of `x`, which has rows of `width`, that are the step's outputs.
    #[allow(clippy::missing_errors_doc)]
    fn pick(&self, x: &Self::Buffer, width: usize, step: &Self::Step) -> Result<Self::Buffer, Self::Error>;
    /// `x · weight / sqrt(mean(x²) + epsilon)` for each row of the weight's length.
    #[allow(clippy::missing_errors_doc)]
    fn rms_norm(
        &self,
        x: &Self::Buffer,
        weight: &Self::Vector,
        epsilon: f32,
    ) -> Result<Self::Buffer, Self::Error>;
    /// Each row of `x` times the matrix.
    #[allow(clippy::missing_errors_doc)]
    fn multiply(&self, matrix: &Self::Matrix, x: &Self::Buffer) -> Result<Self::Buffer, Self::Error>;
    /// `x += y`.
    #[allow(clippy::missing_errors_doc)]
    fn add(&self, x: &mut Self::Buffer, y: &Self::Buffer) -> Result<(), Self::Error>;
    /// `x += vector` for each row.
    #[allow(clippy::missing_errors_doc)]
    fn add_to_rows(&self, x: &mut Self::Buffer, vector: &Self::Vector) -> Result<(), Self::Error>;
    /// Turns the pairs of each head by the token's angles.
    #[allow(clippy::missing_errors_doc)]
    fn turn(
        &self,
        x: &mut Self::Buffer,
        head_dim: usize,
        heads: usize,
        step: &Self::Step,
    ) -> Result<(), Self::Error>;
    /// Keeps keys and values of a layer.
    #[allow(clippy::missing_errors_doc)]
    fn store(
        &self,
        cache: &mut Self::Cache,
        layer: usize,
        step: &Self::Step,
        key: &Self::Buffer,
        value: &Self::Buffer,
    ) -> Result<(), Self::Error>;
    /// Causal attention of each token over its own sequence.
    #[allow(clippy::missing_errors_doc)]
    fn attend(
        &self,
        cache: &Self::Cache,
        layer: usize,
        step: &Self::Step,
        query: &Self::Buffer,
        heads: usize,
    ) -> Result<Self::Buffer, Self::Error>;
    /// `silu(x · gate) · (x · up)`.
    #[allow(clippy::missing_errors_doc)]
    fn gated(
        &self,
        gate: &Self::Matrix,
        up: &Self::Matrix,
        x: &Self::Buffer,
    ) -> Result<Self::Buffer, Self::Error>;
    /// Each token through its best experts of a layer (gate, up and down), weighted by the softmax of their scores, which is made to sum to 1 over those
    /// that are used.
    #[allow(clippy::missing_errors_doc)]
    fn mix_experts(
        &self,
        layer: usize,
        scores: &Self::Buffer,
        experts: Experts,
        weights: [&Self::Matrix; 3],
        x: &Self::Buffer,
    ) -> Result<Self::Buffer, Self::Error>;
}
