//! SHA-256 as a type, so that a hash is never mistaken for another string.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Digest as _;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

/// A SHA-256 digest; written as 64 lower-case hex digits everywhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Sha256([u8; 32]);

/// Why a string is no SHA-256 digest.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ParseError {
    /// Too short, too long, or empty.
    #[error("a sha256 has 64 hex digits, this has {0} characters")]
    Length(usize),
    /// A character that is no hex digit; its place counts from 1.
    #[error("a sha256 has only hex digits, character {at} is `{found}`")]
    Digit {
        /// The place of the character, from 1.
        at: usize,
        /// The character.
        found: char,
    },
}

impl Sha256 {
    /// The digest of `bytes`.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The digest of everything that `reader` gives, and how many bytes that was.
    pub(crate) fn of_reader(mut reader: impl Read) -> io::Result<(Self, u64)> {
        let mut hasher = Hasher::new();
        io::copy(&mut reader, &mut hasher)?;
        Ok(hasher.finish())
    }

    /// The digest of the file at `path`, and its length.
    pub(crate) fn of_file(path: &Path) -> io::Result<(Self, u64)> {
        Self::of_reader(std::fs::File::open(path)?)
    }

    /// Its 32 bytes.
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first 16 hex digits: short enough for a folder name under Windows' path limit.
    pub(crate) fn short(self) -> String {
        self.to_string()[..16].to_owned()
    }
}

/// Hashes and counts what is written to it.
pub(crate) struct Hasher {
    inner: sha2::Sha256,
    length: u64,
}

impl Hasher {
    /// A hasher that has seen nothing.
    pub(crate) fn new() -> Self {
        Self { inner: sha2::Sha256::new(), length: 0 }
    }

    /// Adds `bytes`.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.inner.update(bytes);
        self.length += bytes.len() as u64;
    }

    /// Adds a text together with its length, so that two fields never run into each other.
    pub(crate) fn field(&mut self, text: &str) {
        self.update(&(text.len() as u64).to_le_bytes());
        self.update(text.as_bytes());
    }

    /// The digest of all bytes so far, and their number.
    pub(crate) fn finish(self) -> (Sha256, u64) {
        (Sha256(self.inner.finalize().into()), self.length)
    }
}

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl FromStr for Sha256 {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if let Some((at, found)) = text.chars().enumerate().find(|(_, c)| !c.is_ascii_hexdigit()) {
            return Err(ParseError::Digit { at: at + 1, found });
        }
        if text.len() != 64 {
            return Err(ParseError::Length(text.len()));
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digit = |c: u8| (c as char).to_digit(16).unwrap_or_default() as u8;
            *byte = digit(pair[0]) << 4 | digit(pair[1]);
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Sha256 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sha256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Sha256::of(b"").to_string(), empty);
        assert_eq!(empty.to_uppercase().parse(), Ok(Sha256::of(b"")));
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        assert_eq!("".parse::<Sha256>(), Err(ParseError::Length(0)));
        assert_eq!("ab".parse::<Sha256>(), Err(ParseError::Length(2)));
        assert_eq!("sha256:ab".parse::<Sha256>(), Err(ParseError::Digit { at: 1, found: 's' }));
    }
}
