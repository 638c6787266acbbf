//! Byte-level BPE: bytes are written as printable letters, and pairs of letters are joined by the rank of the merge that makes them.

use super::Error;
use super::merges::join;
use super::pieces::Pieces;
use super::vocabulary::Vocabulary;
use crate::gguf::Gguf;
use std::collections::HashMap;

#[derive(Debug)]
pub(super) struct Bpe {
    pieces: Pieces,
    /// Ranks by the two texts with a blank between them, which no token has.
    ranks: HashMap<String, u32>,
    /// A piece that is a token stays whole, whatever the merges say.
    keeps_tokens: bool,
}

/// The letter that stands for a byte: itself where it is printable, else one from U+0100 on.
pub(super) fn letter(byte: u8) -> char {
    match byte {
        b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => byte.into(),
        _ => {
            let number = match byte {
                0..=0x20 => u32::from(byte),
                0x7f..=0xa0 => u32::from(byte) - 0x7f + 0x21,
                _ => 0x43,
            };
            char::from_u32(0x100 + number).expect("a letter")
        }
    }
}

/// The byte that a letter stands for.
pub(super) fn byte(letter: char) -> Option<u8> {
    let number = u32::from(letter);
    match number {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => Some(number as u8),
        0x100..=0x120 => Some((number - 0x100) as u8),
        0x121..=0x142 => Some((number - 0x121 + 0x7f) as u8),
        0x143 => Some(0xad),
        _ => None,
    }
}

impl Bpe {
    pub(super) fn new(gguf: &Gguf, vocabulary: &Vocabulary) -> Result<Self, Error> {
        const MERGES: &str = "tokenizer.ggml.merges";
        let rule = gguf.text("tokenizer.ggml.pre")?.unwrap_or("default");
        let merges = gguf.texts(MERGES)?.ok_or(Error::Missing(MERGES))?;
        let mut ranks = HashMap::with_capacity(merges.len());
        for (rank, merge) in merges.iter().enumerate() {
            let (left, right) = merge.split_once(' ').ok_or_else(|| Error::Merge(merge.clone()))?;
            vocabulary.number(&format!("{left}{right}")).ok_or_else(|| Error::Merge(merge.clone()))?;
            ranks.entry(merge.clone()).or_insert(rank as u32);
        }
        for byte in 0..=255 {
            vocabulary.number(letter(byte).encode_utf8(&mut [0; 4])).ok_or(Error::Byte(byte))?;
        }
        let keeps_tokens = ["llama-bpe", "llama3", "llama-v3"].contains(&rule);
        Ok(Self { pieces: Pieces::new(rule)?, ranks, keeps_tokens })
    }

    pub(super) fn encode(&self, vocabulary: &Vocabulary, text: &str, out: &mut Vec<u32>) {
        for piece in self.pieces.cut(text) {
            let letters: String = piece.bytes().map(letter).collect();
            match vocabulary.number(&letters) {
                Some(number) if self.keeps_tokens => out.push(number),
                _ => self.encode_piece(vocabulary, &letters, out),
            }
        }
    }

    fn encode_piece(&self, vocabulary: &Vocabulary, letters: &str, out: &mut Vec<u32>) {
        let limits: Vec<usize> = letters.char_indices().map(|(at, _)| at).chain([letters.len()]).collect();
        let longest = vocabulary.longest();
        let left = join(&limits, |a, b, c| {
            if c - a > longest {
                return None;
            }
            self.ranks.get(&format!("{} {}", &letters[a..b], &letters[b..c])).copied()
        });
        // Every letter is a token, and so is what a merge makes.
        out.extend(left.windows(2).filter_map(|limits| vocabulary.number(&letters[limits[0]..limits[1]])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_letter() {
        for number in 0..=255 {
            assert_eq!(byte(letter(number)), Some(number));
        }
        assert_eq!((letter(b' '), letter(b'\n'), letter(0xad)), ('Ġ', 'Ċ', 'Ń'));
        assert_eq!(byte('日'), None);
    }
}
