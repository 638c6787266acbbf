use super::DevicePtr;

/// Arguments of the row-wise norms (`native/norm/norm_args.h`): `out[row] = norm(input[row] + residual[row]) * weight + bias`.
///
/// Rows are contiguous; the strides between them are in elements.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct NormArgs {
    /// `[rows, width]`.
    pub out: DevicePtr,
    /// `[rows, width]`.
    pub input: DevicePtr,
    /// `[rows, width]`, read, and overwritten with the sum; null: none. Not read by softmax.
    pub residual: DevicePtr,
    /// `[width]`; null: ones.
    pub weight: DevicePtr,
    /// `[width]`; null: zeros.
    pub bias: DevicePtr,
    /// Elements from one row of `out` to the next.
    pub out_row_stride: i64,
    /// Elements from one row of `input` to the next.
    pub input_row_stride: i64,
    /// Elements from one row of `residual` to the next.
    pub residual_row_stride: i64,
    /// Elements of a row.
    pub width: i32,
    /// Added to the mean square, or to the variance, before the root. Not read by softmax.
    pub epsilon: f32,
}

const _: () = assert!(size_of::<NormArgs>() == 72);
