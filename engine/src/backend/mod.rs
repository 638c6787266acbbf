//! What computes: one trait, so that every backend runs the same graph.

pub mod cpu;

use crate::gguf::{Gguf, Tensor};
use crate::model::{Experts, Turns};
use std::sync::Arc;

/// Where a token goes: a sequence's slot of the cache and its position there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Which sequence.
    pub slot: usize,
    /// Position in it, from 0; everything before it has been stored.
    pub position: usize,
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
    /// What can go wrong while computing.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Takes a matrix of a file: sizes `[columns, rows]` or `[columns, rows, experts]`.
    fn matrix(&self, gguf: &Arc<Gguf>, tensor: &Tensor) -> Self::Matrix;
    /// Takes a vector.
    fn vector(&self, numbers: &[f32]) -> Self::Vector;
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

    /// The rows `tokens` of a matrix.
    ///
    /// # Errors
    /// The backend's, as of all that follow.
    fn embed(&self, table: &Self::Matrix, tokens: &[u32]) -> Result<Self::Buffer, Self::Error>;
    /// The rows `rows` of `x`, which has rows of `width`.
    #[allow(missing_docs, clippy::missing_errors_doc)]
    fn pick(&self, x: &Self::Buffer, width: usize, rows: &[usize]) -> Result<Self::Buffer, Self::Error>;
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
        turns: &Turns,
    ) -> Result<(), Self::Error>;
    /// Keeps keys and values of a layer.
    #[allow(clippy::missing_errors_doc)]
    fn store(
        &self,
        cache: &mut Self::Cache,
        layer: usize,
        spans: &[Span],
        key: &Self::Buffer,
        value: &Self::Buffer,
    ) -> Result<(), Self::Error>;
    /// Causal attention of each token over its own sequence.
    #[allow(clippy::missing_errors_doc)]
    fn attend(
        &self,
        cache: &Self::Cache,
        layer: usize,
        spans: &[Span],
        query: &Self::Buffer,
        heads: usize,
    ) -> Result<Self::Buffer, Self::Error>;
    /// `gate = silu(gate) · up`.
    #[allow(clippy::missing_errors_doc)]
    fn gate(&self, gate: &mut Self::Buffer, up: &Self::Buffer) -> Result<(), Self::Error>;
    /// Each token through its best experts (gate, up and down), weighted by the softmax of their scores, which is made to sum to 1 over those
    /// that are used.
    #[allow(clippy::missing_errors_doc)]
    fn mix_experts(
        &self,
        scores: &Self::Buffer,
        experts: Experts,
        weights: [&Self::Matrix; 3],
        x: &Self::Buffer,
    ) -> Result<Self::Buffer, Self::Error>;
    /// The numbers of a buffer.
    #[allow(clippy::missing_errors_doc)]
    fn read(&self, x: Self::Buffer) -> Result<Vec<f32>, Self::Error>;
}
