use super::DevicePtr;

/// Arguments of the combine kernels (`native/combine/combine_args.h`): the parts of [`super::FmhaSplitKvArgs`] become one output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FmhaCombineArgs {
    /// The output, `[row of all sequences, head, head dim]` by its strides.
    pub o: DevicePtr,
    /// Its LSE, f32, `[head, row of all sequences]`.
    pub lse: DevicePtr,
    /// Batch + 1 row offsets of the queries, i32, one or none apart: a sequence without a query is skipped.
    pub cu_seqlens_q: DevicePtr,
    /// The output of each part, f32, `[batch, head, split, head dim]`.
    pub o_parts: DevicePtr,
    /// The LSE of each part, f32, `[batch, head, split]`.
    pub lse_parts: DevicePtr,
    /// Heads of o.
    pub heads: i32,
    /// Parts.
    pub splits: i32,
    /// Elements of one head; any number.
    pub head_dim: i32,
    /// From one row of o to the next, in elements.
    pub row_stride_o: i32,
    /// From one head of o to the next, in elements.
    pub head_stride_o: i32,
    /// From one head of lse to the next, in elements.
    pub head_stride_lse: i32,
}

const _: () = assert!(size_of::<FmhaCombineArgs>() == 64);
