//! Keys and values in f16, in pages; storing them and attention over them.

use super::Hip;
use super::buffer::Buffer;
use super::card::Card;
use super::error::Error;
use super::step::{Section, Step, groups};
use crate::kernels::{Conversion, convert};
use aiter_kernels::interface::{AppendKv, Attention, AttentionOptions, ElementType, Limits, Sequences};
use hip::DeviceBuffer;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows of a page: whole tiles of every attention kernel.
const PAGE: usize = 64;
/// Keys for which attention is planned at least.
const FEWEST_KEYS: usize = 256;

/// The pages of slots: those of a slot lie side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pages {
    pub(super) of_each: usize,
}

impl Pages {
    pub(super) fn of_slot(self, slot: usize) -> std::ops::Range<usize> {
        slot * self.of_each..(slot + 1) * self.of_each
    }

    /// How many keys attention is planned for, so that the plan changes seldom while a sequence grows: powers of 2.
    pub(super) fn planned_keys(self, keys: usize) -> usize {
        keys.next_power_of_two().max(FEWEST_KEYS).min(self.of_each * PAGE)
    }
}

/// Keys and values of all layers.
pub struct Cache {
    /// Tells caches apart, also those that had the same memory one after the other.
    pub(super) id: u64,
    pub(super) pages: Pages,
    layers: Vec<Layer>,
    slots: usize,
    kv_heads: usize,
    head_dim: usize,
}

/// On the layer's card: `[slots · pages, page rows, kv heads, head dim]`.
struct Layer {
    keys: DeviceBuffer,
    values: DeviceBuffer,
}

impl Cache {
    pub(super) fn new(
        hip: &Hip,
        layers: usize,
        [slots, context]: [usize; 2],
        [kv_heads, head_dim]: [usize; 2],
    ) -> Result<Self, Error> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let pages = Pages { of_each: context.div_ceil(PAGE) };
        let bytes = slots * pages.of_each * PAGE * kv_heads * head_dim * 2;
        // Attention reads whole pages and weights what lies behind the last key with 0, which must not be infinite.
        let zeros = |card: &Card| {
            let mut memory = card.allocate(bytes)?;
            card.call(memory.fill(0)).map(|()| memory)
        };
        let layer = |layer| {
            let card = &hip.cards[hip.card_of_layer(layer)];
            Ok(Layer { keys: zeros(card)?, values: zeros(card)? })
        };
        let layers = (0..layers).map(layer).collect::<Result<_, Error>>()?;
        let id = NUMBER.fetch_add(1, Ordering::Relaxed);
        Ok(Self { id, pages, layers, slots, kv_heads, head_dim })
    }

    fn shape(&self) -> [usize; 4] {
        [self.slots * self.pages.of_each, PAGE, self.kv_heads, self.head_dim]
    }

    /// Keeps what the step's tokens have.
    pub(super) fn store(
        &mut self,
        hip: &Hip,
        layer: usize,
        step: &Step,
        [key, value]: [&Buffer; 2],
    ) -> Result<(), Error> {
        let card = &hip.cards[hip.card_of_layer(layer)];
        let (keys, values) =
            (card.converted(key, Conversion::F32ToF16)?, card.converted(value, Conversion::F32ToF16)?);
        let (shape, pages) = (self.shape(), self.pages.of_each);
        let cache = &mut self.layers[layer];
        let inputs = card.inputs();
        let integers = |start, shape: &[usize]| card.tensor(ElementType::I32, &inputs, shape).at(start);
        let mut first = 0;
        for group in groups(&step.runs) {
            let [batch, added] = [group.len(), group[0].count];
            let rows = |memory| {
                let rows = [batch, added, self.kv_heads, self.head_dim];
                let skipped = group[0].first * self.kv_heads * self.head_dim;
                card.tensor(ElementType::F16, memory, &rows).at(skipped)
            };
            let call = AppendKv {
                k_cache: card.tensor_mut(ElementType::F16, &mut cache.keys, &shape),
                v_cache: card.tensor_mut(ElementType::F16, &mut cache.values, &shape),
                k: rows(keys.memory()),
                v: rows(values.memory()),
                cache_seqlens: integers(step.filled.start + first, &[batch]),
                block_table: Some(integers(step.tables + first * pages, &[batch, pages])),
                rope: None,
            };
            card.kernels(hip.kernels.append_kv(&call, Some(&card.stream)))?;
            first += batch;
        }
        Ok(())
    }

    /// Causal attention of each token over its own sequence.
    pub(super) fn attend(
        &self,
        hip: &Hip,
        layer: usize,
        step: &Step,
        query: &Buffer,
        heads: usize,
    ) -> Result<Buffer, Error> {
        let place = hip.card_of_layer(layer);
        let card = &hip.cards[place];
        let queries = card.converted(query, Conversion::F32ToF16)?;
        let mut mixed = card.take(query.len * 2)?;
        let shape = [step.tokens.count, heads, self.head_dim];
        let inputs = card.inputs();
        let integers = |start, shape: &[usize]| card.tensor(ElementType::I32, &inputs, shape).at(start);
        let whole = |section: Section| integers(section.start, &[section.count]);
        let halves = |memory| card.tensor(ElementType::F16, memory, &self.shape());
        let cache = &self.layers[layer];
        let call = Attention {
            q: card.tensor(ElementType::F16, queries.memory(), &shape),
            k: halves(&cache.keys),
            v: halves(&cache.values),
            out: card.tensor_mut(ElementType::F16, mixed.memory_mut(), &shape),
            lse: None,
            sequences: Sequences::Paged {
                cu_seqlens_q: whole(step.starts),
                seqlens_k: whole(step.keys),
                block_table: integers(step.tables, &[step.runs.len(), self.pages.of_each]),
                limits: Limits {
                    max_seqlen_q: step.runs.iter().map(|run| run.count).max().unwrap_or(0),
                    max_seqlen_k: self.pages.planned_keys(step.most_keys()),
                    min_seqlen_q: 0,
                },
            },
            options: AttentionOptions { causal: true, ..AttentionOptions::default() },
        };
        card.kernels(hip.kernels.attention(&call, Some(&card.stream)))?;
        drop(call);
        let out = card.take(query.len * 4)?;
        card.launch(&convert(Conversion::F16ToF32, out.address(), mixed.address(), query.len))?;
        Ok(Buffer { card: place, memory: out, len: query.len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_is_planned_for_powers_of_two_within_the_context() {
        let pages = Pages { of_each: 75 };
        let table = [(1, 256), (256, 256), (257, 512), (3000, 4096), (4100, 4800)];
        for (keys, planned) in table {
            assert_eq!(pages.planned_keys(keys), planned, "{keys}");
        }
        assert_eq!(pages.of_slot(2), 150..225);
    }
}
