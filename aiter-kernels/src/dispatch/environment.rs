//! The environment variables that Aiter reads. Each function takes the value, so that it is the caller who looks.

use gfx::{ParseError, Selection};

/// A variable that does not say what it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// `CU_NUM` is no count.
    #[error("CU_NUM: expected a number of compute units, found `{value}`")]
    CuNum {
        /// Its value.
        value: String,
    },
    /// `GPU_ARCHS` names something that is no target.
    #[error("GPU_ARCHS: {0}")]
    GpuArchs(ParseError),
}

/// `CU_NUM`: the compute units to count with; unset, empty or 0: as detected.
///
/// # Errors
/// [`EnvironmentError::CuNum`].
pub fn cu_num(value: Option<&str>) -> Result<Option<u32>, EnvironmentError> {
    match value.map(str::trim) {
        None | Some("" | "0") => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| EnvironmentError::CuNum { value: text.to_owned() }),
    }
}

/// `GPU_ARCHS`: the targets to build for, separated by `;`; unset, empty or `native`: those of the machine.
///
/// # Errors
/// [`EnvironmentError::GpuArchs`].
pub fn gpu_archs(value: Option<&str>) -> Result<Selection, EnvironmentError> {
    let text = value.map(str::trim).filter(|text| !text.is_empty()).unwrap_or("native");
    Selection::parse(text).map_err(EnvironmentError::GpuArchs)
}

/// `AITER_ENABLE_HIP`: whether native kernels are used. Linux always does; on Windows the upstream default is Triton alone, 1 opts in, 0
/// opts out, and kernels that came with the package count as an opt-in.
pub fn native_kernels(value: Option<&str>, windows: bool, bundled: bool) -> bool {
    match value.map(str::trim) {
        _ if !windows => true,
        Some("1") => true,
        Some("0") => false,
        _ => bundled,
    }
}
