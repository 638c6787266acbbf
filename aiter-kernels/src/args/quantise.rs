use super::DevicePtr;

/// Arguments of the quantisations (`native/quantise/quantise_args.h`): `out[row, c] = round(input[row, c] / scales[row])`.
///
/// Rows are contiguous; the strides between them are in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct QuantiseArgs {
    /// `[rows, width]`, one byte an element.
    pub out: DevicePtr,
    /// `[rows]`, f32: what the numbers of the row are to be multiplied with; 1 for a row of zeros.
    pub scales: DevicePtr,
    /// `[rows, width]`.
    pub input: DevicePtr,
    /// Elements from one row of `out` to the next.
    pub out_row_stride: i64,
    /// Elements from one row of `input` to the next.
    pub input_row_stride: i64,
    /// Elements of a row.
    pub width: i32,
    /// Zero.
    pub reserved: i32,
}

const _: () = assert!(size_of::<QuantiseArgs>() == 48);
