use super::DevicePtr;

/// Arguments of the row-wise norms (`native/norm/norm_args.h`): `out[row] = norm(input[row] + residual_in[row]) * weight + bias`.
///
/// Rows are contiguous; the strides between them are in elements.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct NormArgs {
    /// `[rows, width]`.
    pub out: DevicePtr,
    /// `[rows, width]`.
    pub input: DevicePtr,
    /// `[rows, width]`; null: none. Not read by softmax.
    pub residual_in: DevicePtr,
    /// `[rows, width]`, overwritten with the sum; may be `residual_in`, and is null without it.
    pub residual_out: DevicePtr,
    /// `[width]`; null: ones.
    pub weight: DevicePtr,
    /// `[width]`; null: zeros.
    pub bias: DevicePtr,
    /// Elements from one row of `out` to the next.
    pub out_row_stride: i64,
    /// Elements from one row of `input` to the next.
    pub input_row_stride: i64,
    /// Elements from one row of `residual_in` to the next.
    pub residual_in_row_stride: i64,
    /// Elements from one row of `residual_out` to the next.
    pub residual_out_row_stride: i64,
    /// Elements of a row.
    pub width: i32,
    /// Added to the mean square, or to the variance, before the root. Not read by softmax.
    pub epsilon: f32,
}

const _: () = assert!(size_of::<NormArgs>() == 88);
