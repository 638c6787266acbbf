//! The tokens of a model: their bytes and what they are for.

use super::Error;
use crate::gguf::Gguf;
use std::collections::HashMap;

/// What a token is for (the numbers of `tokenizer.ggml.token_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Normal,
    /// Stands for what the vocabulary lacks.
    Unknown,
    /// Steers the model: found in text only where that is asked for.
    Control,
    /// Text that is never cut.
    UserDefined,
    /// Not used.
    Unused,
    /// One byte.
    Byte,
}

impl Kind {
    fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            1 => Self::Normal,
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            _ => return None,
        })
    }
}

/// Tokens by number, and numbers by text.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) texts: Vec<String>,
    pub(super) kinds: Vec<Kind>,
    numbers: HashMap<String, u32>,
    longest: usize,
}

impl Vocabulary {
    pub(super) fn new(gguf: &Gguf) -> Result<Self, Error> {
        const TOKENS: &str = "tokenizer.ggml.tokens";
        let texts = gguf.texts(TOKENS)?.ok_or(Error::Missing(TOKENS))?.to_vec();
        if texts.is_empty() || u32::try_from(texts.len()).is_err() {
            return Err(Error::Count { what: TOKENS, found: texts.len(), expected: 1 });
        }
        let kinds = kinds(gguf, texts.len())?;
        let mut numbers = HashMap::with_capacity(texts.len());
        for (number, text) in texts.iter().enumerate() {
            numbers.entry(text.clone()).or_insert(number as u32);
        }
        let longest = texts.iter().map(String::len).max().unwrap_or(0);
        Ok(Self { texts, kinds, numbers, longest })
    }

    pub(super) fn number(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// Bytes of the longest text.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Texts that are found before anything else is done, with their numbers.
    pub(super) fn of_kind(&self, wanted: impl Fn(Kind) -> bool) -> Vec<(u32, &str)> {
        let all = self.texts.iter().zip(&self.kinds).enumerate();
        let found = all.filter(|(_, (text, kind))| wanted(**kind) && !text.is_empty());
        found.map(|(number, (text, _))| (number as u32, text.as_str())).collect()
    }
}

fn kinds(gguf: &Gguf, count: usize) -> Result<Vec<Kind>, Error> {
    const KEY: &str = "tokenizer.ggml.token_type";
    let Some(numbers) = gguf.integers(KEY)? else { return Ok(vec![Kind::Normal; count]) };
    if numbers.len() != count {
        return Err(Error::Count { what: KEY, found: numbers.len(), expected: count });
    }
    let kinds = numbers.iter().map(|number| Kind::from_number(*number).ok_or(Error::Kind(*number)));
    kinds.collect()
}
