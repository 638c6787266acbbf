//! The environment variables that Aiter reads when it runs. `GPU_ARCHS` is not among them: it says what upstream compiles on first use, and here
//! everything is compiled before (`cargo xtask build --targets`). Each function takes the value, so that it is the caller who looks.

/// A variable that does not say what it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// `CU_NUM` is no count.
    #[error("CU_NUM: expected a number of compute units, found `{value}`")]
    CuNum {
        /// Its value.
        value: String,
    },
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
