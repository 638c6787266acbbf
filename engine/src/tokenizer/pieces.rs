//! Cuts text into the pieces that byte-level BPE works on, as the tokenizer that a model was trained with does.

use super::Error;
use regex::Regex;

/// Which rule cuts.
#[derive(Debug)]
pub(super) struct Pieces {
    pattern: Regex,
    /// Runs of blanks that end in a line break are whole; else their last blank goes to the word after them.
    keeps_line_breaks: bool,
}

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+";
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+";
const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+";

impl Pieces {
    /// The rule that `tokenizer.ggml.pre` names.
    pub(super) fn new(name: &str) -> Result<Self, Error> {
        let (pattern, keeps_line_breaks) = match name {
            "gpt-2" | "default" => (GPT2, false),
            "llama-bpe" | "llama3" | "llama-v3" => (LLAMA3, true),
            "qwen2" | "deepseek-r1-qwen" => (QWEN2, true),
            _ => return Err(Error::Pieces(name.to_owned())),
        };
        let pattern = Regex::new(pattern).expect("a pattern of ours");
        Ok(Self { pattern, keeps_line_breaks })
    }

    /// The pieces of `text`, which are all of it.
    pub(super) fn cut<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let (mut pieces, mut at) = (Vec::new(), 0);
        while let Some(found) = self.pattern.find_at(text, at) {
            if found.start() > at {
                pieces.push(&text[at..found.start()]);
            }
            let end = self.end(text, found.as_str(), found.end());
            pieces.push(&text[found.start()..end]);
            at = end;
        }
        if at < text.len() {
            pieces.push(&text[at..]);
        }
        pieces
    }

    /// The published patterns say `\s+(?!\S)|\s+`: looking ahead is done here, so that matching stays linear.
    fn end(&self, text: &str, piece: &str, end: usize) -> usize {
        let mut letters = piece.chars();
        let last = letters.next_back();
        let is_blank = piece.chars().all(char::is_whitespace);
        let is_whole = self.keeps_line_breaks && piece.ends_with(['\r', '\n']);
        let goes_on = text[end..].chars().next().is_some_and(|next| !next.is_whitespace());
        match last {
            Some(last) if is_blank && !is_whole && goes_on && !letters.as_str().is_empty() => {
                end - last.len_utf8()
            }
            _ => end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_cuts_as_published() {
        let table: [(&str, &str, &[&str]); 7] = [
            ("gpt-2", "I'm here  now", &["I", "'m", " here", " ", " now"]),
            ("gpt-2", "a\n\n b", &["a", "\n\n", " b"]),
            ("llama-bpe", "12345 IT'S", &["123", "45", " IT", "'S"]),
            ("llama-bpe", "a \n  b\t\tc", &["a", " \n", " ", " b", "\t", "\tc"]),
            ("qwen2", "12 x", &["1", "2", " x"]),
            ("qwen2", "end.\r\n\r\n  ", &["end", ".\r\n\r\n", "  "]),
            ("qwen2", "日本 नमस्ते", &["日本", " नमस", "\u{94d}त", "\u{947}"]),
        ];
        for (rule, text, pieces) in table {
            assert_eq!(Pieces::new(rule).expect("a rule").cut(text), pieces, "{rule}: {text:?}");
        }
    }
}
