//! What can be wrong with an encoder or an image: one variant a cause.

use std::path::PathBuf;

/// Why there are no embeddings.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The encoder's file.
    #[error(transparent)]
    Model(#[from] crate::gguf::Error),
    /// No threads.
    #[error("failed to start threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// An image that cannot be read.
    #[error("failed to read `{path}`")]
    Read {
        /// The image.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// Neither PNG nor JPEG.
    #[error("`{path}` starts neither like a PNG nor like a JPEG")]
    Format {
        /// The image.
        path: PathBuf,
    },
    /// No pixels, or more than are accepted.
    #[error("`{path}` has {width} x {height} pixels: a side may have 1 to {most}, make it smaller first")]
    Size {
        /// The image.
        path: PathBuf,
        /// Its width.
        width: usize,
        /// Its height.
        height: usize,
        /// Pixels of a side that are accepted.
        most: usize,
    },
    /// A PNG that is broken.
    #[error("`{path}` is not a PNG that can be read")]
    Png {
        /// The image.
        path: PathBuf,
        /// What is wrong.
        source: png::DecodingError,
    },
    /// A JPEG that is broken.
    #[error("`{path}` is not a JPEG that can be read: {why}")]
    Jpeg {
        /// The image.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}
