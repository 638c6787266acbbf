//! What can be wrong with a GGUF file: one variant a cause.

use std::path::PathBuf;

/// Why a file was not accepted. Offsets are in bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened or mapped.
    #[error("failed to open `{path}`")]
    Open {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// What is wrong inside of a file.
    #[error("`{path}` is not a GGUF file that can be used")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Box<Error>,
    },
    /// The first four bytes.
    #[error("it starts with {0:02x?}, not with the magic `GGUF`")]
    Magic([u8; 4]),
    /// A version that is not 2 or 3.
    #[error("GGUF version {0} is not supported: 2 and 3 are")]
    Version(u32),
    /// Written on a big-endian machine.
    #[error("it is big-endian")]
    BigEndian,
    /// It ends inside of something.
    #[error("it ends at {len} while {what} at {at} takes {need} bytes")]
    Truncated {
        /// What was read.
        what: &'static str,
        /// Where it starts.
        at: u64,
        /// Its size.
        need: u64,
        /// Size of the file.
        len: u64,
    },
    /// A count that the rest of the file cannot hold.
    #[error("{count} {what} cannot be in the {rest} bytes that are left")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many there should be.
        count: u64,
        /// Bytes that are left.
        rest: u64,
    },
    /// Text that is no UTF-8.
    #[error("{what} at {at} is not UTF-8")]
    Utf8 {
        /// What was read.
        what: &'static str,
        /// Where it starts.
        at: u64,
    },
    /// A name that is empty or too long.
    #[error("{what} at {at} has {len} bytes: 1 to {limit} are allowed")]
    NameLength {
        /// A key or a tensor's name.
        what: &'static str,
        /// Where it starts.
        at: u64,
        /// How long it is.
        len: u64,
        /// How long it may be.
        limit: u64,
    },
    /// A key or a tensor that is there twice.
    #[error("{what} `{name}` is there twice")]
    Twice {
        /// A key or a tensor.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A type of a metadata value that does not exist.
    #[error("the value of `{key}` has the unknown type {id}")]
    ValueType {
        /// The key.
        key: String,
        /// The type's number.
        id: u32,
    },
    /// A bool that is not 0 or 1.
    #[error("the bool of `{key}` is {value}")]
    Bool {
        /// The key.
        key: String,
        /// Its byte.
        value: u8,
    },
    /// `general.alignment` must be a power of two, 8 at least.
    #[error("general.alignment is {0}, not a power of two from 8 to 1048576")]
    Alignment(u64),
    /// A tensor without dimensions or with more than four.
    #[error("tensor `{name}` has {count} dimensions: 1 to 4 are allowed")]
    Dimensions {
        /// The tensor.
        name: String,
        /// How many it has.
        count: u32,
    },
    /// Sizes that are zero or overflow.
    #[error("tensor `{name}` has the sizes {sizes:?}")]
    Sizes {
        /// The tensor.
        name: String,
        /// What it says.
        sizes: Vec<u64>,
    },
    /// A tensor type that cannot be read.
    #[error(
        "tensor `{name}` has type {id}{known}: F32, F16, BF16, Q8_0, Q4_0, Q4_K, Q5_K, Q6_K and IQ4_NL are supported"
    )]
    TensorType {
        /// The tensor.
        name: String,
        /// The type's number in ggml.
        id: u32,
        /// Its name in brackets, if it has one.
        known: String,
    },
    /// Rows that are no whole number of blocks.
    #[error(
        "tensor `{name}` has rows of {columns} numbers: not a multiple of the {block} that its type needs"
    )]
    Blocks {
        /// The tensor.
        name: String,
        /// Numbers of a row.
        columns: u64,
        /// Numbers of a block.
        block: u64,
    },
    /// An offset off the alignment.
    #[error("tensor `{name}` starts at {offset} of the data: not a multiple of {alignment}")]
    Offset {
        /// The tensor.
        name: String,
        /// Its offset in the data.
        offset: u64,
        /// The alignment of the file.
        alignment: u64,
    },
    /// A tensor that goes past the end.
    #[error("tensor `{name}` takes {size} bytes at {offset} of the data, which has {len}")]
    OutOfFile {
        /// The tensor.
        name: String,
        /// Its offset in the data.
        offset: u64,
        /// Its size in bytes.
        size: u64,
        /// Size of the data.
        len: u64,
    },
    /// Two tensors that share bytes.
    #[error("tensors `{first}` and `{second}` overlap")]
    Overlap {
        /// The one that starts first.
        first: String,
        /// The other.
        second: String,
    },
    /// A key that a model must have.
    #[error("the key `{0}` is missing")]
    MissingKey(String),
    /// A key of another type or out of its range.
    #[error("the key `{key}` is {found}: it should be {expected}")]
    Key {
        /// The key.
        key: String,
        /// What is there.
        found: String,
        /// What should be there.
        expected: String,
    },
    /// A tensor that a model must have.
    #[error("the tensor `{0}` is missing")]
    MissingTensor(String),
    /// A tensor with the wrong sizes.
    #[error("tensor `{name}` has the sizes {found:?}: it should have {expected:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// What it has.
        found: Vec<u64>,
        /// What it should have.
        expected: Vec<u64>,
    },
    /// One part of a model that is split over several files.
    #[error(
        "it is part {part} of a model in {parts} files: merge them with `llama-gguf-split --merge` first"
    )]
    Split {
        /// Number of this file, from 0.
        part: u64,
        /// Number of files.
        parts: u64,
    },
}
