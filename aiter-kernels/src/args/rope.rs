use super::DevicePtr;

/// Arguments of the rotary embeddings (`native/position/rope_args.h`).
///
/// `input` and `out` are `[row, head, head dim]` with a contiguous head dim, and may be the same. Strides are in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct RopeArgs {
    /// The rotated rows.
    pub out: DevicePtr,
    /// The rows.
    pub input: DevicePtr,
    /// Cosines, f32, `[position, rotary_dim / 2]`.
    pub cos: DevicePtr,
    /// Sines, f32, `[position, rotary_dim / 2]`.
    pub sin: DevicePtr,
    /// The position of each row, i32; null: row `r` has the position `r / batch`.
    pub positions: DevicePtr,
    /// From one row of `out` to the next.
    pub out_row_stride: i64,
    /// From one row of `input` to the next.
    pub input_row_stride: i64,
    /// From one head of `out` to the next.
    pub out_head_stride: i32,
    /// From one head of `input` to the next.
    pub input_head_stride: i32,
    /// Heads.
    pub heads: i32,
    /// Elements of a head.
    pub head_dim: i32,
    /// Elements of a head that are rotated; even.
    pub rotary_dim: i32,
    /// The first of them: 0, or `head_dim - rotary_dim` where those that are not rotated come first.
    pub first: i32,
    /// 0: elements `i` and `i + rotary_dim / 2` belong together (neox); 1: elements `2 i` and `2 i + 1`.
    pub interleaved: i32,
    /// Rows that follow each other with the same position; not read with `positions`.
    pub batch: i32,
}

const _: () = assert!(size_of::<RopeArgs>() == 88);
