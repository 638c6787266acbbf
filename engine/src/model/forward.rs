//! The graph: tokens in, logits out. It is the same for every backend.

use super::Model;
use super::config::RopePairs;
use super::weights::{Attention, FeedForward};
use crate::backend::{Backend, Part, Span};

/// Tokens that go through the model together. They may belong to several sequences.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Tokens, each below the size of the vocabulary.
    pub tokens: Vec<u32>,
    /// Where each goes: one span a token. A sequence's tokens come in the order of their positions.
    pub spans: Vec<Span>,
    /// Tokens, by their place in the batch, whose logits are wanted.
    pub outputs: Vec<usize>,
}

impl Batch {
    /// Adds a token.
    pub fn push(&mut self, token: u32, slot: usize, position: usize, wants_logits: bool) {
        if wants_logits {
            self.outputs.push(self.tokens.len());
        }
        self.tokens.push(token);
        self.spans.push(Span { slot, position });
    }
}

/// Cosine and sine of every pair of numbers of each token.
#[derive(Debug, Clone)]
pub struct Turns {
    /// Which numbers are a pair.
    pub pairs: RopePairs,
    /// How many numbers of a head are turned.
    pub dimensions: usize,
    /// `[token][pair]`.
    pub angles: Vec<(f32, f32)>,
}

impl<B: Backend> Model<B> {
    /// Runs a batch and gives the logits of its outputs, one row of the vocabulary's size each.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn forward(&self, cache: &mut B::Cache, batch: &Batch) -> Result<Vec<f32>, B::Error> {
        self.backend.run(|| self.step(cache, batch))
    }

    fn step(&self, cache: &mut B::Cache, batch: &Batch) -> Result<Vec<f32>, B::Error> {
        let step = self.backend.step(batch, self.turns(&batch.spans))?;
        self.backend.compute(cache, &step, |cache| self.compute(cache, &step, !batch.outputs.is_empty()))
    }

    fn compute(
        &self,
        cache: &mut B::Cache,
        step: &B::Step,
        wants_logits: bool,
    ) -> Result<Option<B::Buffer>, B::Error> {
        let (backend, weights) = (&self.backend, &self.weights);
        let mut x = backend.embed(&weights.embedding, step)?;
        for (number, layer) in weights.layers.iter().enumerate() {
            backend.carry(&mut x, Part::Layer(number))?;
            let part = self.attention(cache, number, &layer.attention, &x, step)?;
            backend.add(&mut x, &part)?;
            let part = self.feed_forward(number, &layer.feed_forward, &x)?;
            backend.add(&mut x, &part)?;
        }
        if !wants_logits {
            return Ok(None);
        }
        let mut last = backend.pick(&x, self.config.width, step)?;
        backend.carry(&mut last, Part::Output)?;
        let last = backend.rms_norm(&last, &weights.norm, self.config.epsilon)?;
        let output = weights.output.as_ref().unwrap_or(&weights.embedding);
        backend.multiply(output, &last).map(Some)
    }

    fn attention(
        &self,
        cache: &mut B::Cache,
        layer: usize,
        weights: &Attention<B>,
        x: &B::Buffer,
        step: &B::Step,
    ) -> Result<B::Buffer, B::Error> {
        let (backend, epsilon) = (&self.backend, self.config.epsilon);
        let x = backend.rms_norm(x, &weights.norm, epsilon)?;
        let project = |matrix: &B::Matrix, bias: &Option<B::Vector>, norm: &Option<B::Vector>| {
            let mut y = backend.multiply(matrix, &x)?;
            if let Some(bias) = bias {
                backend.add_to_rows(&mut y, bias)?;
            }
            match norm {
                Some(norm) => backend.rms_norm(&y, norm, epsilon),
                None => Ok(y),
            }
        };
        let mut query = project(&weights.query, &weights.query_bias, &weights.query_norm)?;
        let mut key = project(&weights.key, &weights.key_bias, &weights.key_norm)?;
        let value = project(&weights.value, &weights.value_bias, &None)?;
        backend.turn(&mut query, self.config.head_dim, self.config.heads, step)?;
        backend.turn(&mut key, self.config.head_dim, self.config.kv_heads, step)?;
        backend.store(cache, layer, step, &key, &value)?;
        let mixed = backend.attend(cache, layer, step, &query, self.config.heads)?;
        let mut out = backend.multiply(&weights.output, &mixed)?;
        if let Some(bias) = &weights.output_bias {
            backend.add_to_rows(&mut out, bias)?;
        }
        Ok(out)
    }

    fn feed_forward(
        &self,
        layer: usize,
        weights: &FeedForward<B>,
        x: &B::Buffer,
    ) -> Result<B::Buffer, B::Error> {
        let backend = &self.backend;
        let x = backend.rms_norm(x, &weights.norm, self.config.epsilon)?;
        if let (Some(router), Some(experts)) = (&weights.router, self.config.experts) {
            let scores = backend.multiply(router, &x)?;
            let weights = [&weights.gate, &weights.up, &weights.down];
            return backend.mix_experts(layer, &scores, experts, weights, &x);
        }
        let inner = backend.gated(&weights.gate, &weights.up, &x)?;
        backend.multiply(&weights.down, &inner)
    }

    fn turns(&self, spans: &[Span]) -> Turns {
        let rope = &self.config.rope;
        let pairs = rope.dimensions / 2;
        let frequency = |pair: usize| {
            let frequency = rope.base.powf(-2.0 * pair as f32 / rope.dimensions as f32) * rope.scale;
            self.weights.rope_factors.as_ref().map_or(frequency, |factors| frequency / factors[pair])
        };
        let frequencies: Vec<f32> = (0..pairs).map(frequency).collect();
        let of_token = |span: &Span| {
            let position = span.position as f32;
            frequencies.iter().map(move |frequency| {
                let (sine, cosine) = (position * frequency).sin_cos();
                (cosine, sine)
            })
        };
        let angles = spans.iter().flat_map(of_token).collect();
        Turns { pairs: rope.pairs, dimensions: rope.dimensions, angles }
    }
}
