use super::DevicePtr;

/// Arguments of the split-KV kernels (`native/fmha/fmha_split_kv_args.h`): one query a sequence or none, its keys shared out over
/// work-groups.
///
/// q is `[row of all sequences, head, head dim]`; k and v are pages as in [`super::FmhaPagedArgs`]. Strides are in elements.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FmhaSplitKvArgs {
    /// Queries.
    pub q: DevicePtr,
    /// Pages of keys.
    pub k: DevicePtr,
    /// Pages of values.
    pub v: DevicePtr,
    /// The output of each part, f32, `[batch, head, split, head dim]`.
    pub o_parts: DevicePtr,
    /// The LSE of each part, f32, `[batch, head, split]`; minus infinity where it has no keys.
    pub lse_parts: DevicePtr,
    /// Batch + 1 row offsets of the queries, i32, one or none apart; what a sequence without a query has of the parts is not written.
    pub cu_seqlens_q: DevicePtr,
    /// Keys of each sequence, i32.
    pub seqlens_k: DevicePtr,
    /// Pages of each sequence, i32, `[batch, block_table_stride]`.
    pub block_table: DevicePtr,
    /// Heads of q.
    pub heads: i32,
    /// Heads of q that share one head of k and v.
    pub heads_per_kv: i32,
    /// Parts that the keys of a sequence are shared out over.
    pub splits: i32,
    /// Rows of a page, a multiple of the kernel's `tile_n`.
    pub page_rows: i32,
    /// From one row of the block table to the next.
    pub block_table_stride: i32,
    /// Factor of the scores before softmax.
    pub scale: f32,
    /// Bound of the scores, read by instances with a soft cap only; 0 otherwise.
    pub logits_cap: f32,
    /// From one row of q to the next.
    pub row_stride_q: i32,
    /// From one head of q to the next.
    pub head_stride_q: i32,
    /// From one row of a page of k to the next.
    pub row_stride_k: i32,
    /// From one row of a page of v to the next.
    pub row_stride_v: i32,
    /// From one head of k to the next.
    pub head_stride_k: i32,
    /// From one head of v to the next.
    pub head_stride_v: i32,
    /// From one page of k to the next.
    pub page_stride_k: i32,
    /// From one page of v to the next.
    pub page_stride_v: i32,
    /// Zero.
    pub reserved: i32,
}

const _: () = assert!(size_of::<FmhaSplitKvArgs>() == 128);
