use std::path::PathBuf;

/// What keeps kernels from being run at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing to run.
    #[error("{}: no kernels/<target>/<component>/<name>.co in it", .folder.display())]
    NoKernels {
        /// The folder.
        folder: PathBuf,
    },
    /// A file cannot be read.
    #[error("failed to read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A folder of `kernels` is named after no target.
    #[error("{}: {source}", .path.display())]
    Target {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: gfx::ParseError,
    },
    /// A code object cannot be loaded.
    #[error("failed to load {}: {source}", .path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// Why.
        source: gfx_sim::Error,
    },
    /// The catalogue names a code object that is not there.
    #[error("{name}.co for {target} is missing")]
    Missing {
        /// The code object.
        name: String,
        /// The target.
        target: gfx::Target,
    },
}
