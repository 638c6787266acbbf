//! What can go wrong at the border.

use crate::api::OUT_OF_MEMORY;
use std::fmt;
use std::path::PathBuf;

/// One name that the dynamic loader was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The name or path.
    pub library: PathBuf,
    /// What the loader said.
    pub reason: String,
}

/// No usable HIP runtime.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No library of any known name could be loaded: there is no AMD driver, or it is broken.
    #[error("failed to load {what}; tried {}", Attempts(.attempts))]
    NotFound {
        /// `the HIP runtime` or another library.
        what: &'static str,
        /// Every name, and what the loader said.
        attempts: Vec<Attempt>,
    },
    /// A library is there and does not work.
    #[error("{what} `{library}` is there and cannot be used: {reason}", library = .library.display())]
    Broken {
        /// Which library.
        what: &'static str,
        /// The file.
        library: PathBuf,
        /// What the loader or the library said.
        reason: String,
    },
    /// A library was loaded and is not that of ROCm 6 or later.
    #[error("`{library}` has no function `{symbol}`: it is no {what} of version 6 or later", library = .library.display())]
    Symbol {
        /// `HIP runtime` or another library.
        what: &'static str,
        /// The library.
        library: PathBuf,
        /// The first missing function.
        symbol: String,
    },
}

/// A call into the runtime that returned an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{function} failed: {name} ({code}), {message}")]
pub struct CallError {
    /// The C function.
    pub function: &'static str,
    /// The `hipError_t`.
    pub code: i32,
    /// Its name, e.g. `hipErrorOutOfMemory`.
    pub name: String,
    /// The runtime's own words for it.
    pub message: String,
}

impl CallError {
    /// Whether the device has no memory left.
    pub fn is_out_of_memory(&self) -> bool {
        self.code == OUT_OF_MEMORY
    }
}

struct Attempts<'a>(&'a [Attempt]);

impl fmt::Display for Attempts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Attempt { library, reason }) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}`{}` ({reason})", library.display())?;
        }
        Ok(())
    }
}
