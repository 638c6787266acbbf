//! Strata's engine: models and what computes them, the kernels it launches, and the report on this machine's GPUs that `strata-device` prints.

pub mod arena;
#[cfg(feature = "models")]
pub mod backend;
pub mod catalogue;
#[cfg(feature = "models")]
pub mod chat;
pub mod cli;
pub mod device;
pub mod element;
#[cfg(feature = "models")]
pub mod generate;
pub mod gguf;
pub mod kernels;
#[cfg(feature = "models")]
pub mod loaded;
#[cfg(feature = "models")]
pub mod memory;
#[cfg(feature = "models")]
pub mod model;
pub mod out;
pub mod plan;
pub mod quant;
pub mod reference;
pub mod report;
pub mod rms_norm;
pub mod selftest;
#[cfg(feature = "models")]
pub mod serve;
#[cfg(feature = "models")]
pub mod tokenizer;
#[cfg(feature = "models")]
pub mod vision;

/// Where a release has hipBLASLt: it finds its kernels relative to itself, so it lies deeper than the programs.
pub(crate) fn blas_folders() -> Vec<std::path::PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    program.parent().map(|folder| folder.join(library_folder(cfg!(windows)))).into_iter().collect()
}

/// As xtask packs it: a dist has its libraries in `bin` on Windows and in `lib` on Linux.
fn library_folder(is_windows: bool) -> &'static str {
    if is_windows { "rocm/bin" } else { "rocm/lib" }
}

#[cfg(test)]
mod tests {
    #[test]
    fn libraries_lie_where_a_dist_has_them() {
        assert_eq!([true, false].map(super::library_folder), ["rocm/bin", "rocm/lib"]);
    }
}
