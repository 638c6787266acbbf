//! Keys of the metadata that start alike, and their rules.

use crate::gguf::{Error, Gguf, Value};

/// No model has more, and products of two stay far from overflow.
const LARGEST: u64 = 1 << 24;

/// The keys of one architecture.
pub(crate) struct Keys<'a> {
    pub(crate) gguf: &'a Gguf,
    pub(crate) prefix: &'static str,
}

impl Keys<'_> {
    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.prefix)
    }

    pub(crate) fn expect(&self, name: &str, is_so: bool, expected: impl ToString) -> Result<(), Error> {
        let key = self.key(name);
        let found = self.gguf.metadata().get(&key).map_or_else(|| "not there".to_owned(), Value::kind);
        if is_so { Ok(()) } else { Err(Error::Key { key, found, expected: expected.to_string() }) }
    }

    pub(crate) fn optional(&self, name: &str) -> Result<Option<usize>, Error> {
        let key = self.key(name);
        match self.gguf.unsigned(&key)? {
            Some(value) if value == 0 || value > LARGEST => Err(Error::Key {
                key,
                found: value.to_string(),
                expected: format!("a number from 1 to {LARGEST}"),
            }),
            value => Ok(value.map(|value| value as usize)),
        }
    }

    pub(crate) fn size(&self, name: &str) -> Result<usize, Error> {
        self.optional(name)?.ok_or_else(|| Error::MissingKey(self.key(name)))
    }

    pub(crate) fn size_or(&self, name: &str, default: usize) -> Result<usize, Error> {
        Ok(self.optional(name)?.unwrap_or(default))
    }

    pub(crate) fn float(&self, name: &str) -> Result<f32, Error> {
        let key = self.key(name);
        self.gguf.float(&key)?.ok_or(Error::MissingKey(key))
    }
}
