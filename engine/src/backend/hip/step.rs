//! What a step works on: tokens, places in the cache, angles. Plain values here; on a card they lie in one block, which is copied once a step.

use super::cache::Pages;
use crate::backend::Span;
use crate::model::{Batch, RopePairs, Turns};

/// Tokens side by side in the batch that follow each other in one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Its first token's place in the batch.
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) slot: usize,
    /// Position of its first token.
    pub(super) position: usize,
}

impl Run {
    /// Keys that its last token sees.
    pub(super) fn keys(&self) -> usize {
        self.position + self.count
    }
}

/// The runs of a batch.
pub(super) fn runs(spans: &[Span]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (first, span) in spans.iter().enumerate() {
        match runs.last_mut().filter(|run| run.slot == span.slot && run.keys() == span.position) {
            Some(run) => run.count += 1,
            None => runs.push(Run { first, count: 1, slot: span.slot, position: span.position }),
        }
    }
    runs
}

/// Runs of the same length side by side, which go into the cache together.
pub(super) fn groups(runs: &[Run]) -> impl Iterator<Item = &[Run]> {
    runs.chunk_by(|a, b| a.count == b.count)
}

/// A step. The members of type [`Section`] say where its numbers lie in the block.
#[derive(Debug)]
pub struct Step {
    pub(super) runs: Vec<Run>,
    pub(super) pairs: RopePairs,
    /// Numbers of a head that are turned.
    pub(super) dimensions: usize,
    /// u32: what the bell rings with when the step is done.
    pub(super) ticket: Section,
    /// u32 `[tokens]`.
    pub(super) tokens: Section,
    /// i32 `[tokens]`: which row of the angles is a token's.
    pub(super) rows: Section,
    /// u32 `[outputs]`: tokens whose logits are wanted.
    pub(super) outputs: Section,
    /// f32 `[tokens, dimensions / 2]`.
    pub(super) cosines: Section,
    pub(super) sines: Section,
    /// i32 `[runs + 1]`: where each starts.
    pub(super) starts: Section,
    /// i32 `[runs]`: positions that are filled before the step.
    pub(super) filled: Section,
    /// i32 `[runs]`: positions that are filled after it.
    pub(super) keys: Section,
    /// i32 `[runs, pages of a slot]`, once a cache is known.
    pub(super) tables: usize,
    words: Vec<u32>,
}

/// A part of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section {
    /// Its first word.
    pub(super) start: usize,
    /// Words.
    pub(super) count: usize,
}

/// Words between the begins of sections, so that each is aligned for any load.
const ALIGNMENT: usize = 16;

impl Step {
    pub(super) fn new(batch: &Batch, turns: &Turns) -> Self {
        let runs = runs(&batch.spans);
        let mut words: Vec<u32> = Vec::new();
        // Sizes of models are below 2^24 (`model::Config`).
        let word = |number: usize| number as u32;
        let mut section = |numbers: &mut dyn Iterator<Item = u32>| {
            let start = words.len();
            words.extend(numbers);
            let count = words.len() - start;
            words.resize(words.len().next_multiple_of(ALIGNMENT), 0);
            Section { start, count }
        };
        let ticket = section(&mut std::iter::once(0));
        let tokens = section(&mut batch.tokens.iter().copied());
        let rows = section(&mut (0..batch.tokens.len()).map(word));
        let outputs = section(&mut batch.outputs.iter().map(|output| word(*output)));
        let cosines = section(&mut turns.angles.iter().map(|(cosine, _)| cosine.to_bits()));
        let sines = section(&mut turns.angles.iter().map(|(_, sine)| sine.to_bits()));
        let starts = runs.iter().map(|run| run.first).chain([batch.tokens.len()]);
        let starts = section(&mut starts.map(word));
        let filled = section(&mut runs.iter().map(|run| word(run.position)));
        let keys = section(&mut runs.iter().map(|run| word(run.keys())));
        let (pairs, dimensions, tables) = (turns.pairs, turns.dimensions, words.len());
        Self {
            runs,
            pairs,
            dimensions,
            ticket,
            tokens,
            rows,
            outputs,
            cosines,
            sines,
            starts,
            filled,
            keys,
            tables,
            words,
        }
    }

    /// The block for a cache.
    pub(super) fn block(&self, pages: Pages, ticket: u32) -> Vec<u8> {
        let tables = self.runs.iter().flat_map(|run| pages.of_slot(run.slot)).map(|page| page as u32);
        let words = std::iter::once(ticket).chain(self.words[1..].iter().copied()).chain(tables);
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// Whether every sequence has one token: the step of a model that generates.
    pub(super) fn is_decode(&self) -> bool {
        self.runs.iter().all(|run| run.count == 1) && self.outputs.count == self.tokens.count
    }

    /// Keys of the longest sequence.
    pub(super) fn most_keys(&self) -> usize {
        self.runs.iter().map(Run::keys).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(all: &[(usize, usize)]) -> Vec<Span> {
        all.iter().map(|(slot, position)| Span { slot: *slot, position: *position }).collect()
    }

    #[test]
    fn runs_are_what_follows_in_one_sequence() {
        let run = |first, count, slot, position| Run { first, count, slot, position };
        let two_decode_and_one_prompt = spans(&[(2, 9), (0, 4), (1, 0), (1, 1), (1, 2)]);
        let found = runs(&two_decode_and_one_prompt);
        assert_eq!(found, [run(0, 1, 2, 9), run(1, 1, 0, 4), run(2, 3, 1, 0)]);
        assert_eq!(groups(&found).map(<[Run]>::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(found[2].keys(), 3);
        // The same sequence in two pieces, and neighbours in the batch that are none in their sequence.
        assert_eq!(runs(&spans(&[(0, 0), (1, 0), (0, 1)])).len(), 3);
        assert_eq!(runs(&spans(&[(0, 0), (0, 2)])).len(), 2);
        assert!(runs(&[]).is_empty());
    }

    #[test]
    fn everything_of_a_step_is_in_its_block() {
        let batch =
            Batch { tokens: vec![7, 8, 9], spans: spans(&[(1, 5), (0, 2), (0, 3)]), outputs: vec![0, 2] };
        let angles = (0..6).map(|i| (i as f32, -(i as f32))).collect();
        let step = Step::new(&batch, &Turns { pairs: RopePairs::Halves, dimensions: 4, angles });
        assert!(!step.is_decode() && step.most_keys() == 6);
        let block = step.block(Pages { of_each: 2 }, 77);
        let words: Vec<u32> = block
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let of = |section: Section| &words[section.start..][..section.count];
        assert_eq!(of(step.ticket), [77]);
        assert_eq!((of(step.tokens), of(step.outputs)), (&[7, 8, 9][..], &[0, 2][..]));
        assert_eq!(
            (of(step.starts), of(step.filled), of(step.keys)),
            (&[0, 1, 3][..], &[5, 2][..], &[6, 4][..])
        );
        assert_eq!(words[step.sines.start + 5], (-5.0_f32).to_bits());
        assert_eq!(words[step.tables..], [2, 3, 0, 1]);
        assert!(step.keys.start.is_multiple_of(16) && step.tables.is_multiple_of(16));
    }
}
