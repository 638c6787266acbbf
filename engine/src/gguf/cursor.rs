//! A place in the bytes of a file that never goes past their end.

use super::error::Error;

/// Reads front to back.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes from the start of the file.
    pub(super) fn at(&self) -> u64 {
        self.at as u64
    }

    fn rest(&self) -> u64 {
        (self.bytes.len() - self.at) as u64
    }

    /// Refuses a count before anything is allocated for it.
    pub(super) fn expect_room(&self, what: &'static str, count: u64, smallest: u64) -> Result<(), Error> {
        let fits = count.checked_mul(smallest).is_some_and(|bytes| bytes <= self.rest());
        if fits { Ok(()) } else { Err(Error::Count { what, count, rest: self.rest() }) }
    }

    fn take(&mut self, what: &'static str, need: u64) -> Result<&'a [u8], Error> {
        if need > self.rest() {
            return Err(Error::Truncated { what, at: self.at(), need, len: self.bytes.len() as u64 });
        }
        let start = self.at;
        self.at += need as usize;
        Ok(&self.bytes[start..self.at])
    }

    pub(super) fn bytes<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Error> {
        let slice = self.take(what, N as u64)?;
        Ok(std::array::from_fn(|i| slice[i]))
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.bytes(what)?))
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.bytes(what)?))
    }

    pub(super) fn text(&mut self, what: &'static str) -> Result<String, Error> {
        let len = self.u64(what)?;
        let at = self.at();
        let bytes = self.take(what, len)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Error::Utf8 { what, at })
    }

    /// A text of 1 to `limit` bytes.
    pub(super) fn name(&mut self, what: &'static str, limit: u64) -> Result<String, Error> {
        let at = self.at();
        let name = self.text(what)?;
        let len = name.len() as u64;
        if len == 0 || len > limit { Err(Error::NameLength { what, at, len, limit }) } else { Ok(name) }
    }
}
