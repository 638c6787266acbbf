//! Text to tokens and back, by the tokenizer that the model's file holds.

mod bpe;
mod merges;
mod pieces;
mod sentence_piece;
mod stream;
mod vocabulary;

pub use stream::TextStream;
pub use vocabulary::Kind;

use crate::gguf::{self, Gguf};
use aho_corasick::{AhoCorasick, MatchKind};
use bpe::Bpe;
use sentence_piece::{BLANK, SentencePiece};
use vocabulary::Vocabulary;

/// What can be wrong with a file's tokenizer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A key has another type.
    #[error(transparent)]
    Gguf(#[from] gguf::Error),
    /// A key that a tokenizer must have.
    #[error("the tokenizer's key `{0}` is missing")]
    Missing(&'static str),
    /// An algorithm that is not known.
    #[error(
        "the tokenizer is of the kind `{0}`: `gpt2` (byte-level BPE) and `llama` (SentencePiece) are supported"
    )]
    Algorithm(String),
    /// A rule for cutting text that is not known.
    #[error(
        "the tokenizer cuts text by the rule `{0}`: gpt-2, default, llama-bpe, qwen2 and deepseek-r1-qwen are supported"
    )]
    Pieces(String),
    /// Lists that do not go together.
    #[error("`{what}` has {found} entries: it should have {expected}")]
    Count {
        /// The key.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// A token's type.
    #[error("a token has the unknown type {0}")]
    Kind(i64),
    /// A merge of what is no token, or to what is no token.
    #[error("the merge `{0}` does not make a token")]
    Merge(String),
    /// A byte without a token.
    #[error("there is no token for the byte {0:#04x}")]
    Byte(u8),
    /// A special token that does not exist.
    #[error("`{key}` is {number}, but there are {count} tokens")]
    Special {
        /// The key.
        key: &'static str,
        /// The token.
        number: u64,
        /// Size of the vocabulary.
        count: usize,
    },
}

#[derive(Debug)]
enum Algorithm {
    Bpe(Bpe),
    SentencePiece(SentencePiece),
}

/// The tokenizer of a model.
#[derive(Debug)]
pub struct Tokenizer {
    vocabulary: Vocabulary,
    algorithm: Algorithm,
    /// Finds tokens that stand for themselves; the second finds control tokens too.
    whole: Finder,
    whole_and_control: Finder,
    bos: Option<u32>,
    eos: Option<u32>,
    adds_bos: bool,
    adds_blank: bool,
    ends: Vec<u32>,
}

/// Finds tokens in text: the leftmost, of those the longest.
#[derive(Debug)]
struct Finder {
    automaton: Option<AhoCorasick>,
    numbers: Vec<u32>,
}

impl Finder {
    fn new(tokens: &[(u32, &str)]) -> Self {
        let numbers = tokens.iter().map(|(number, _)| *number).collect();
        let texts = tokens.iter().map(|(_, text)| text);
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts).ok();
        Self { automaton: automaton.filter(|_| !tokens.is_empty()), numbers }
    }

    /// The next token of `text`: where it starts and ends, and its number.
    fn find(&self, text: &str) -> Option<(usize, usize, u32)> {
        let found = self.automaton.as_ref()?.find(text)?;
        Some((found.start(), found.end(), self.numbers[found.pattern().as_usize()]))
    }
}

/// Tokens that end a turn or a text wherever they are control tokens: files name only one of them.
const ENDS: [&str; 7] =
    ["<|eot_id|>", "<|im_end|>", "<|end|>", "<|end_of_text|>", "<|endoftext|>", "<|eom_id|>", "</s>"];

impl Tokenizer {
    /// Reads the tokenizer of a file.
    ///
    /// # Errors
    /// What it lacks or has wrong.
    pub fn new(gguf: &Gguf) -> Result<Self, Error> {
        const MODEL: &str = "tokenizer.ggml.model";
        let vocabulary = Vocabulary::new(gguf)?;
        let algorithm = match gguf.text(MODEL)?.ok_or(Error::Missing(MODEL))? {
            "gpt2" => Algorithm::Bpe(Bpe::new(gguf, &vocabulary)?),
            "llama" => Algorithm::SentencePiece(SentencePiece::new(gguf, &vocabulary)?),
            other => return Err(Error::Algorithm(other.to_owned())),
        };
        let special = |key| special(gguf, key, vocabulary.len());
        let is_sentence_piece = matches!(algorithm, Algorithm::SentencePiece(_));
        let bos = special("tokenizer.ggml.bos_token_id")?;
        let eos = special("tokenizer.ggml.eos_token_id")?;
        let eot = special("tokenizer.ggml.eot_token_id")?;
        let control = vocabulary.of_kind(|kind| kind == Kind::Control);
        let named = control.iter().filter(|(_, text)| ENDS.contains(text)).map(|(number, _)| *number);
        let mut ends: Vec<u32> = named.chain(eos).chain(eot).collect();
        ends.sort_unstable();
        ends.dedup();
        // Llama 3's files often do not say that a text starts with its first token.
        let starts_with_bos = is_sentence_piece
            || matches!(gguf.text("tokenizer.ggml.pre")?, Some("llama-bpe" | "llama3" | "llama-v3"));
        Ok(Self {
            whole: Finder::new(&vocabulary.of_kind(|kind| kind == Kind::UserDefined)),
            whole_and_control: Finder::new(
                &vocabulary.of_kind(|kind| matches!(kind, Kind::UserDefined | Kind::Control | Kind::Unknown)),
            ),
            adds_bos: bos.is_some() && gguf.bool("tokenizer.ggml.add_bos_token")?.unwrap_or(starts_with_bos),
            adds_blank: is_sentence_piece && gguf.bool("tokenizer.ggml.add_space_prefix")?.unwrap_or(true),
            vocabulary,
            algorithm,
            bos,
            eos,
            ends,
        })
    }

    /// Number of tokens.
    pub fn count(&self) -> usize {
        self.vocabulary.len()
    }

    /// The tokens of a text that a person wrote: control tokens in it are text like any other.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        self.encode_with(&self.whole, text)
    }

    /// The tokens of a text in which control tokens are themselves: what a chat template makes.
    pub fn encode_with_control(&self, text: &str) -> Vec<u32> {
        self.encode_with(&self.whole_and_control, text)
    }

    /// The token that a text starts with, if this model wants one.
    pub fn start(&self) -> Option<u32> {
        self.bos.filter(|_| self.adds_bos)
    }

    fn encode_with(&self, finder: &Finder, text: &str) -> Vec<u32> {
        let (mut tokens, mut rest, mut is_start) = (Vec::new(), text, true);
        while let Some((start, end, number)) = finder.find(rest) {
            self.encode_part(&rest[..start], is_start, &mut tokens);
            tokens.push(number);
            (rest, is_start) = (&rest[end..], true);
        }
        self.encode_part(rest, is_start, &mut tokens);
        tokens
    }

    fn encode_part(&self, text: &str, is_start: bool, tokens: &mut Vec<u32>) {
        if text.is_empty() {
            return;
        }
        match &self.algorithm {
            Algorithm::Bpe(bpe) => bpe.encode(&self.vocabulary, text, tokens),
            Algorithm::SentencePiece(pieces) => {
                let blank = if is_start && self.adds_blank { BLANK } else { "" };
                let text = format!("{blank}{}", text.replace(' ', BLANK));
                pieces.encode(&self.vocabulary, &text, tokens);
            }
        }
    }

    /// The bytes that a token stands for in text: none for a control token or a number that is no token.
    pub fn bytes(&self, token: u32) -> Vec<u8> {
        let number = token as usize;
        let Some((text, kind)) = self.vocabulary.texts.get(number).zip(self.vocabulary.kinds.get(number))
        else {
            return Vec::new();
        };
        match (kind, &self.algorithm) {
            (Kind::Control | Kind::Unused, _) => Vec::new(),
            (Kind::UserDefined, _) => text.as_bytes().to_vec(),
            (Kind::Byte, _) => sentence_piece::byte_of(text).into_iter().collect(),
            (_, Algorithm::SentencePiece(_)) => text.replace(BLANK, " ").into_bytes(),
            (_, Algorithm::Bpe(_)) => text.chars().filter_map(bpe::byte).collect(),
        }
    }

    /// The text of tokens, without the blank that encoding puts before a text.
    pub fn decode(&self, tokens: &[u32]) -> String {
        let bytes: Vec<u8> = tokens.iter().flat_map(|token| self.bytes(*token)).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match text.strip_prefix(' ') {
            Some(rest) if self.adds_blank => rest.to_owned(),
            _ => text,
        }
    }

    /// Whether a text ends with this token.
    pub fn is_end(&self, token: u32) -> bool {
        self.ends.contains(&token)
    }

    /// The texts of the tokens that start and end a text, for a chat template.
    pub fn start_and_end(&self) -> [&str; 2] {
        [self.bos, self.eos]
            .map(|token| token.map_or("", |token| self.vocabulary.texts[token as usize].as_str()))
    }
}

fn special(gguf: &Gguf, key: &'static str, count: usize) -> Result<Option<u32>, Error> {
    match gguf.unsigned(key)? {
        Some(number) if number >= count as u64 => Err(Error::Special { key, number, count }),
        number => Ok(number.map(|number| number as u32)),
    }
}
