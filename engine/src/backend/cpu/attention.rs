//! Keys and values in f16, and causal attention over them.

use super::vector::{add_scaled, dot, widen};
use crate::backend::Span;
use crate::quant::Code;
use half::f16;
use half::slice::HalfFloatSliceExt;
use rayon::prelude::*;

/// Keys and values: `[layer][slot][head][position][head_dim]`, so that a head's are in one piece.
#[derive(Debug)]
pub struct Cache {
    slots: usize,
    context: usize,
    kv_heads: usize,
    head_dim: usize,
    keys: Vec<u16>,
    values: Vec<u16>,
}

/// Positions whose keys are made f32 at a time.
const TILE: usize = 32;

impl Cache {
    pub(super) fn new(layers: usize, slots: usize, context: usize, kv_heads: usize, head_dim: usize) -> Self {
        let size = layers * slots * context * kv_heads * head_dim;
        // Zeroed pages are not taken from the machine before they are written.
        Self { slots, context, kv_heads, head_dim, keys: vec![0; size], values: vec![0; size] }
    }

    /// Where a head's keys and values of a sequence start.
    fn start(&self, layer: usize, slot: usize, head: usize) -> usize {
        ((layer * self.slots + slot) * self.kv_heads + head) * self.context * self.head_dim
    }

    pub(super) fn store(&mut self, layer: usize, spans: &[Span], key: &[f32], value: &[f32]) {
        let dim = self.head_dim;
        for (token, span) in spans.iter().enumerate() {
            assert!(span.slot < self.slots && span.position < self.context, "a place in the cache");
            for head in 0..self.kv_heads {
                let at = self.start(layer, span.slot, head) + span.position * dim;
                let from = (token * self.kv_heads + head) * dim;
                for (cache, numbers) in [(&mut self.keys, key), (&mut self.values, value)] {
                    let mut halves = vec![f16::ZERO; dim];
                    halves.convert_from_f32_slice(&numbers[from..from + dim]);
                    cache[at..at + dim].iter_mut().zip(halves).for_each(|(to, half)| *to = half.to_bits());
                }
            }
        }
    }

    pub(super) fn attend(
        &self,
        code: Code,
        layer: usize,
        spans: &[Span],
        query: &[f32],
        heads: usize,
    ) -> Vec<f32> {
        let group = heads / self.kv_heads * self.head_dim;
        let mut out = vec![0.0; query.len()];
        let tasks = out.par_chunks_mut(group).zip(query.par_chunks(group)).enumerate();
        tasks.for_each(|(task, (out, query))| {
            let (token, head) = (task / self.kv_heads, task % self.kv_heads);
            self.attend_group(code, layer, spans[token], head, query, out);
        });
        out
    }

    /// The query heads that share one head of keys.
    fn attend_group(
        &self,
        code: Code,
        layer: usize,
        span: Span,
        head: usize,
        query: &[f32],
        out: &mut [f32],
    ) {
        let (dim, count) = (self.head_dim, span.position + 1);
        let start = self.start(layer, span.slot, head);
        let scale = 1.0 / (dim as f32).sqrt();
        let mut scores = vec![0.0; query.len() / dim * count];
        let mut tile = vec![0.0; TILE * dim];
        let mut each_tile = |numbers: &[u16], work: &mut dyn FnMut(usize, &[f32])| {
            for (number, halves) in numbers[start..start + count * dim].chunks(TILE * dim).enumerate() {
                widen(code, halves, &mut tile);
                for (i, row) in tile[..halves.len()].chunks_exact(dim).enumerate() {
                    work(number * TILE + i, row);
                }
            }
        };
        each_tile(&self.keys, &mut |position, key| {
            for (query, scores) in query.chunks_exact(dim).zip(scores.chunks_exact_mut(count)) {
                scores[position] = dot(code, query, key) * scale;
            }
        });
        scores.chunks_exact_mut(count).for_each(softmax);
        each_tile(&self.values, &mut |position, value| {
            for (out, scores) in out.chunks_exact_mut(dim).zip(scores.chunks_exact(count)) {
                add_scaled(code, out, scores[position], value);
            }
        });
    }
}

/// Makes scores weights that sum to 1.
pub(super) fn softmax(scores: &mut [f32]) {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
    let inverse = 1.0 / scores.iter().sum::<f32>();
    scores.iter_mut().for_each(|score| *score *= inverse);
}
