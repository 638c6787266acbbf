use super::DevicePtr;

/// Arguments of the gated activations (`native/activation/activation_args.h`):
/// `out[row, c] = f(input[row, c]) * input[row, width + c]`. Strides are in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct ActivationArgs {
    /// `[rows, width]`, contiguous along a row.
    pub out: DevicePtr,
    /// `[rows, 2 * width]`, contiguous along a row: the gate, then the factor.
    pub input: DevicePtr,
    /// Elements from one row of `out` to the next.
    pub out_row_stride: i64,
    /// Elements from one row of `input` to the next.
    pub input_row_stride: i64,
    /// Columns of `out`.
    pub width: i32,
    /// Zero.
    pub reserved: i32,
}

const _: () = assert!(size_of::<ActivationArgs>() == 40);
