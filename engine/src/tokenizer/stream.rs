//! Text that arrives token by token.

/// Holds bytes back until they are whole letters.
#[derive(Debug, Default)]
pub struct TextStream {
    held: Vec<u8>,
}

impl TextStream {
    /// Adds bytes and gives what is whole. What can never become a letter is replaced by U+FFFD.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            match std::str::from_utf8(&self.held) {
                Ok(whole) => {
                    text.push_str(whole);
                    self.held.clear();
                    return text;
                }
                Err(error) => {
                    let whole = error.valid_up_to();
                    text.push_str(&String::from_utf8_lossy(&self.held[..whole]));
                    let Some(wrong) = error.error_len() else {
                        self.held.drain(..whole);
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.held.drain(..whole + wrong);
                }
            }
        }
    }

    /// What was held back, at the end of the text.
    pub fn finish(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.held).into_owned();
        self.held.clear();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_whole() {
        let mut stream = TextStream::default();
        let pushed: Vec<String> = "é日".bytes().map(|byte| stream.push(&[byte])).collect();
        assert_eq!(pushed, ["", "é", "", "", "日"]);
        assert_eq!(stream.push(&[0xff, b'a', 0xe6]), "\u{fffd}a");
        assert_eq!((stream.finish().as_str(), stream.finish().as_str()), ("\u{fffd}", ""));
    }
}
