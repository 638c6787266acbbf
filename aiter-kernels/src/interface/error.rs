use crate::dispatch::DispatchError;
use crate::reference::ShapeError;
use std::path::PathBuf;

/// A call that was not made. Nothing was launched and no output was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A tensor has another shape than the others ask for.
    #[error("{argument}: expected the shape {expected}, found {found:?}")]
    Shape {
        /// The argument's name.
        argument: &'static str,
        /// The shape in words.
        expected: String,
        /// What it is.
        found: Vec<usize>,
    },
    /// A tensor holds elements of another type.
    #[error("{argument}: expected {expected}, found {found}")]
    Type {
        /// The argument's name.
        argument: &'static str,
        /// The types that are taken.
        expected: String,
        /// What it holds.
        found: &'static str,
    },
    /// A tensor whose elements do not lie as the operation reads them.
    #[error("{argument}: expected {expected}, found the strides {found:?}")]
    Stride {
        /// The argument's name.
        argument: &'static str,
        /// Which strides are taken.
        expected: &'static str,
        /// What they are, in elements.
        found: Vec<i64>,
    },
    /// An address or a stride that is no multiple of what a load takes.
    #[error("{argument}: {what} must be a multiple of {expected} bytes, found {found}")]
    Alignment {
        /// The argument's name.
        argument: &'static str,
        /// The address, or a stride.
        what: &'static str,
        /// The alignment in bytes.
        expected: u64,
        /// The address or the stride in bytes.
        found: u64,
    },
    /// A tensor in another memory than the first one.
    #[error("{argument}: expected on {expected}, found on {found}")]
    Device {
        /// The argument's name.
        argument: &'static str,
        /// Where the others are.
        expected: String,
        /// Where it is.
        found: String,
    },
    /// A shape that reaches beyond the memory.
    #[error("{argument}: its shape reaches over {needed} bytes, its memory has {available}")]
    Bounds {
        /// The argument's name.
        argument: &'static str,
        /// Bytes from the first element to the end of the last.
        needed: u64,
        /// Bytes that there are.
        available: u64,
    },
    /// Kernels count with 32 bits.
    #[error("{argument}: {what} is {found}, kernels count up to {limit}")]
    Offset {
        /// The argument's name.
        argument: &'static str,
        /// What is too large.
        what: &'static str,
        /// How large it is.
        found: u64,
        /// The most there can be.
        limit: u64,
    },
    /// A number that makes no sense here.
    #[error("{argument}: expected {expected}, found {found}")]
    Value {
        /// The argument's name.
        argument: &'static str,
        /// What is taken.
        expected: String,
        /// What it is.
        found: String,
    },
    /// What upstream has and this crate does not.
    #[error("{argument}: {reason}")]
    Unsupported {
        /// The argument's name.
        argument: &'static str,
        /// Why there is no such thing.
        reason: String,
    },
    /// No kernel of the catalogue computes it.
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
    /// Tensors are on a GPU, and there is no HIP runtime.
    #[error(transparent)]
    Load(#[from] hip::LoadError),
    /// The runtime refused.
    #[error(transparent)]
    Call(#[from] hip::CallError),
    /// A card that there is no code for.
    #[error("device {device}: {reason}")]
    Card {
        /// HIP's number.
        device: u32,
        /// What is known of it.
        reason: String,
    },
    /// The stream is recording a graph, and something has to be loaded or allocated first: both would end the recording.
    #[error(
        "stream: is recording a graph, and this call loads its kernels or takes {scratch} bytes of memory first; make the same call once on the \
         same stream before the recording"
    )]
    Recording {
        /// Bytes that the call needs beside its tensors.
        scratch: u64,
    },
    /// A fault of this crate.
    #[error("a bug of aiter-kernels, please report it: {words}")]
    Bug {
        /// What the panic said.
        words: String,
    },
    /// A code object that cannot be read.
    #[error("failed to read `{}`: {reason}", .path.display())]
    CodeObject {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl From<ShapeError> for Error {
    /// The references check what depends on the content of tensors: lengths, offsets, pages and positions.
    fn from(ShapeError { argument, expected, found }: ShapeError) -> Self {
        Self::Value { argument, expected, found }
    }
}
