//! SentencePiece as Llama 2 has it: letters are joined where the result is a token, the best score first; what is no token becomes bytes.

use super::Error;
use super::merges::join;
use super::vocabulary::{Kind, Vocabulary};
use crate::gguf::Gguf;
use std::cmp::Ordering;

/// Stands for a blank.
pub(super) const BLANK: &str = "\u{2581}";

#[derive(Debug)]
pub(super) struct SentencePiece {
    scores: Vec<f32>,
    unknown: Option<u32>,
    /// Tokens of the 256 bytes, where there are any.
    bytes: Vec<Option<u32>>,
}

/// A score as a rank: the highest is the smallest.
#[derive(Clone, Copy, PartialEq)]
struct Rank(f32);

impl Eq for Rank {}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0)
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl SentencePiece {
    pub(super) fn new(gguf: &Gguf, vocabulary: &Vocabulary) -> Result<Self, Error> {
        const SCORES: &str = "tokenizer.ggml.scores";
        let scores = gguf.floats(SCORES)?.ok_or(Error::Missing(SCORES))?.to_vec();
        if scores.len() != vocabulary.len() {
            return Err(Error::Count { what: SCORES, found: scores.len(), expected: vocabulary.len() });
        }
        let bytes = (0..=255_u8).map(|byte| vocabulary.number(&format!("<0x{byte:02X}>"))).collect();
        let unknown = vocabulary.of_kind(|kind| kind == Kind::Unknown).first().map(|(number, _)| *number);
        Ok(Self { scores, unknown, bytes })
    }

    /// `text` has its blanks already replaced.
    pub(super) fn encode(&self, vocabulary: &Vocabulary, text: &str, out: &mut Vec<u32>) {
        let limits: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let longest = vocabulary.longest();
        let left = join(&limits, |a, _, c| {
            if c - a > longest {
                return None;
            }
            vocabulary.number(&text[a..c]).map(|number| Rank(self.scores[number as usize]))
        });
        for limits in left.windows(2) {
            let part = &text[limits[0]..limits[1]];
            match vocabulary.number(part) {
                Some(number) => out.push(number),
                None => {
                    out.extend(
                        part.bytes().filter_map(|byte| self.bytes[usize::from(byte)].or(self.unknown)),
                    );
                }
            }
        }
    }
}

/// The byte that a token like `<0x0A>` stands for.
pub(super) fn byte_of(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 2)
}
