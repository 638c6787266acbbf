//! GGUF files: a model's metadata and tensors, memory-mapped and checked before anything is used.
//!
//! Layout and types: the GGUF specification of the ggml project, versions 2 and 3, little-endian. A file is not trusted: every count is
//! compared with the bytes that are left before memory is taken for it, so what is allocated is a small multiple of the file at most.

mod cursor;
mod error;
mod kind;
mod tensors;
mod value;

pub use error::Error;
pub use kind::TensorType;
pub use tensors::{Tensor, Tensors};
pub use value::{Metadata, Value};

use cursor::Cursor;
use std::path::Path;

/// The directory of a file: everything but the numbers.
#[derive(Debug)]
pub struct Directory {
    /// Version of the format.
    pub version: u32,
    /// Values by key.
    pub metadata: Metadata,
    /// Tensors by name.
    pub tensors: Tensors,
    /// Where the data starts, in bytes.
    pub data: u64,
}

const MAGIC: [u8; 4] = *b"GGUF";
const DEFAULT_ALIGNMENT: u64 = 32;
const LARGEST_ALIGNMENT: u64 = 1 << 20;

impl Directory {
    /// Reads and checks the directory of a whole file.
    ///
    /// # Errors
    /// Whatever of [`Error`] is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let magic = cursor.bytes("the magic")?;
        if magic != MAGIC {
            return Err(Error::Magic(magic));
        }
        let version = cursor.u32("the version")?;
        if version != 0 && version.swap_bytes() < 256 {
            return Err(Error::BigEndian);
        }
        if !(2..=3).contains(&version) {
            return Err(Error::Version(version));
        }
        let tensor_count = cursor.u64("the number of tensors")?;
        let key_count = cursor.u64("the number of keys")?;
        let metadata = value::read(&mut cursor, key_count)?;
        let alignment = alignment(&metadata)?;
        let tensors = tensors::read(&mut cursor, tensor_count, alignment)?;
        let data = cursor.at().next_multiple_of(alignment);
        // A file without tensors may end before its padding.
        tensors::check_places(&tensors, (bytes.len() as u64).saturating_sub(data))?;
        Ok(Self { version, metadata, tensors, data })
    }
}

fn alignment(metadata: &Metadata) -> Result<u64, Error> {
    match metadata.get("general.alignment") {
        None => Ok(DEFAULT_ALIGNMENT),
        Some(Value::Unsigned(value))
            if value.is_power_of_two() && (8..=LARGEST_ALIGNMENT).contains(value) =>
        {
            Ok(*value)
        }
        Some(Value::Unsigned(value)) => Err(Error::Alignment(*value)),
        Some(other) => Err(wrong_key("general.alignment", other, "an unsigned integer")),
    }
}

fn wrong_key(key: &str, found: &Value, expected: &str) -> Error {
    Error::Key { key: key.to_owned(), found: found.kind(), expected: expected.to_owned() }
}

/// A file that was opened, mapped and checked.
#[derive(Debug)]
pub struct Gguf {
    directory: Directory,
    map: memmap2::Mmap,
}

impl Gguf {
    /// Opens `path`.
    ///
    /// # Errors
    /// Whatever of [`Error`] is wrong with it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let map = map(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
        let directory = Directory::parse(&map);
        let wrap = |source| Error::File { path: path.to_owned(), source: Box::new(source) };
        let gguf = Self { directory: directory.map_err(wrap)?, map };
        let parts = gguf.unsigned_or("split.count", 1).map_err(wrap)?;
        if parts > 1 {
            let part = gguf.unsigned_or("split.no", 0).map_err(wrap)?;
            return Err(wrap(Error::Split { part, parts }));
        }
        Ok(gguf)
    }

    /// Values by key.
    pub fn metadata(&self) -> &Metadata {
        &self.directory.metadata
    }

    /// Tensors by name.
    pub fn tensors(&self) -> &Tensors {
        &self.directory.tensors
    }

    /// Version of the format.
    pub fn version(&self) -> u32 {
        self.directory.version
    }

    /// Size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.map.len() as u64
    }

    /// The bytes of a tensor of this file.
    pub fn bytes(&self, tensor: &Tensor) -> &[u8] {
        let start = (self.directory.data + tensor.offset) as usize;
        &self.map[start..start + tensor.size as usize]
    }

    /// A text, if the key is there.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn text(&self, key: &str) -> Result<Option<&str>, Error> {
        match self.metadata().get(key) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_key(key, other, "a text")),
        }
    }

    /// An integer that is not negative, if the key is there.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn unsigned(&self, key: &str) -> Result<Option<u64>, Error> {
        match self.metadata().get(key) {
            None => Ok(None),
            Some(Value::Unsigned(value)) => Ok(Some(*value)),
            Some(Value::Signed(value)) if *value >= 0 => Ok(Some(value.unsigned_abs())),
            Some(other) => Err(wrong_key(key, other, "an integer from 0")),
        }
    }

    /// As [`Self::unsigned`], with a value for when the key is missing.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn unsigned_or(&self, key: &str, default: u64) -> Result<u64, Error> {
        Ok(self.unsigned(key)?.unwrap_or(default))
    }

    /// A float, if the key is there.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn float(&self, key: &str) -> Result<Option<f32>, Error> {
        match self.metadata().get(key) {
            None => Ok(None),
            Some(Value::Float(value)) if value.is_finite() => Ok(Some(*value as f32)),
            Some(other) => Err(wrong_key(key, other, "a finite float")),
        }
    }

    /// A bool, if the key is there.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn bool(&self, key: &str) -> Result<Option<bool>, Error> {
        match self.metadata().get(key) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(other) => Err(wrong_key(key, other, "a bool")),
        }
    }

    /// Texts, if the key is there.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn texts(&self, key: &str) -> Result<Option<&[String]>, Error> {
        match self.metadata().get(key) {
            None => Ok(None),
            Some(Value::Texts(list)) => Ok(Some(list)),
            // An empty array may have any type.
            Some(Value::Integers(list)) if list.is_empty() => Ok(Some(&[])),
            Some(other) => Err(wrong_key(key, other, "an array of texts")),
        }
    }

    /// Floats, if the key is there.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn floats(&self, key: &str) -> Result<Option<&[f32]>, Error> {
        match self.metadata().get(key) {
            None => Ok(None),
            Some(Value::Floats(list)) => Ok(Some(list)),
            Some(other) => Err(wrong_key(key, other, "an array of floats")),
        }
    }

    /// Integers, if the key is there.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn integers(&self, key: &str) -> Result<Option<&[i64]>, Error> {
        match self.metadata().get(key) {
            None => Ok(None),
            Some(Value::Integers(list)) => Ok(Some(list)),
            Some(other) => Err(wrong_key(key, other, "an array of integers")),
        }
    }
}

#[allow(unsafe_code)]
fn map(path: &Path) -> std::io::Result<memmap2::Mmap> {
    let file = std::fs::File::open(path)?;
    // SAFETY: the map is read only. Another process that shortens the file under us ends this one with a bus error, as with every mapped model;
    // one that changes bytes changes numbers, since all structure has been copied out by then.
    unsafe { memmap2::Mmap::map(&file) }
}
