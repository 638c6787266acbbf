//! Keys and values in f16, and causal attention over them.

use super::vector::{add_scaled, dot, widen};
use crate::backend::Span;
use crate::quant::Code;
use half::f16;
use half::slice::HalfFloatSliceExt;
use rayon::prelude::*;
use std::ops::Range;

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
/// Tokens at a time that look at such a tile.
const QUERIES: usize = 16;

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
        let (width, group) = (heads * self.head_dim, heads / self.kv_heads * self.head_dim);
        let tasks: Vec<(Range<usize>, usize)> = runs(spans)
            .into_iter()
            .flat_map(|run| (0..self.kv_heads).map(move |head| (run.clone(), head)))
            .collect();
        let part = |(run, head): &(Range<usize>, usize)| {
            let queries = &query[run.start * width..run.end * width];
            let queries = queries.chunks_exact(width).flat_map(|row| &row[head * group..][..group]);
            self.attend_run(code, layer, &spans[run.clone()], *head, &queries.copied().collect::<Vec<f32>>())
        };
        let parts: Vec<Vec<f32>> = tasks.par_iter().map(part).collect();
        let mut out = vec![0.0; query.len()];
        for ((run, head), part) in tasks.into_iter().zip(&parts) {
            for (token, part) in run.zip(part.chunks_exact(group)) {
                out[token * width + head * group..][..group].copy_from_slice(part);
            }
        }
        out
    }

    /// Tokens of one sequence, the query heads that share one head of keys: `[token][head][head_dim]`.
    fn attend_run(&self, code: Code, layer: usize, spans: &[Span], head: usize, queries: &[f32]) -> Vec<f32> {
        let (dim, count) = (self.head_dim, spans[spans.len() - 1].position + 1);
        let start = self.start(layer, spans[0].slot, head);
        let scale = 1.0 / (dim as f32).sqrt();
        let group = queries.len() / dim / spans.len();
        // Each query sees the positions up to its own.
        let seen = |query: usize| spans[query / group].position + 1;
        let mut scores = vec![0.0; queries.len() / dim * count];
        let mut tile = vec![0.0; TILE * dim];
        let mut each_tile = |numbers: &[u16], work: &mut dyn FnMut(usize, &[f32])| {
            for (number, halves) in numbers[start..start + count * dim].chunks(TILE * dim).enumerate() {
                widen(code, halves, &mut tile);
                work(number * TILE, &tile[..halves.len()]);
            }
        };
        each_tile(&self.keys, &mut |first, keys| {
            for (number, query) in queries.chunks_exact(dim).enumerate() {
                let scores = &mut scores[number * count..][..seen(number)];
                for (score, key) in scores.iter_mut().skip(first).zip(keys.chunks_exact(dim)) {
                    *score = dot(code, query, key) * scale;
                }
            }
        });
        for (number, scores) in scores.chunks_exact_mut(count).enumerate() {
            softmax(&mut scores[..seen(number)]);
        }
        let mut out = vec![0.0; queries.len()];
        each_tile(&self.values, &mut |first, values| {
            for (number, out) in out.chunks_exact_mut(dim).enumerate() {
                let scores = &scores[number * count..][..seen(number)];
                for (score, value) in scores.iter().skip(first).zip(values.chunks_exact(dim)) {
                    add_scaled(code, out, *score, value);
                }
            }
        });
        out
    }
}

/// Tokens that follow each other in one sequence, a few at a time: they share the keys that are made f32.
fn runs(spans: &[Span]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (token, span) in spans.iter().enumerate() {
        match runs.last_mut() {
            Some(run)
                if run.len() < QUERIES
                    && spans[run.start].slot == span.slot
                    && spans[run.end - 1].position + 1 == span.position =>
            {
                run.end += 1;
            }
            _ => runs.push(token..token + 1),
        }
    }
    runs
}

/// Makes scores weights that sum to 1.
pub(crate) fn softmax(scores: &mut [f32]) {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
    let inverse = 1.0 / scores.iter().sum::<f32>();
    scores.iter_mut().for_each(|score| *score *= inverse);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_where_another_sequence_or_a_gap_begins() {
        let spans =
            [(0, 4), (0, 5), (1, 6), (1, 7), (1, 9), (0, 6)].map(|(slot, position)| Span { slot, position });
        assert_eq!(runs(&spans), [0..2, 2..4, 4..5, 5..6]);
        let long: Vec<Span> = (0..QUERIES + 1).map(|position| Span { slot: 0, position }).collect();
        assert_eq!(runs(&long), [0..QUERIES, QUERIES..QUERIES + 1]);
    }
}
