use super::DevicePtr;

/// Arguments of the paged FMHA forward kernels (`native/fmha/fmha_paged_args.h`).
///
/// q and o are `[row of all sequences, head, head dim]`; k and v are pages, `[page, row, kv head, head dim]`. Strides are in elements; the head
/// dim is contiguous. Key `j` of a sequence is row `j % page_rows` of page `block_table[sequence, j / page_rows]`.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FmhaPagedArgs {
    /// Queries.
    pub q: DevicePtr,
    /// Pages of keys.
    pub k: DevicePtr,
    /// Pages of values.
    pub v: DevicePtr,
    /// The output.
    pub o: DevicePtr,
    /// Natural logarithm of the softmax denominator, f32, `[head, row of all sequences]`. Never null.
    pub lse: DevicePtr,
    /// Batch + 1 row offsets of the queries, i32.
    pub cu_seqlens_q: DevicePtr,
    /// Keys of each sequence, i32.
    pub seqlens_k: DevicePtr,
    /// Pages of each sequence, i32, `[batch, block_table_stride]`.
    pub block_table: DevicePtr,
    /// Heads of q.
    pub heads: i32,
    /// Heads of q that share one head of k and v.
    pub heads_per_kv: i32,
    /// Rows of a page, a multiple of the kernel's `tile_n`: a tile that crosses a page reads the wrong keys, silently.
    pub page_rows: i32,
    /// From one row of the block table to the next.
    pub block_table_stride: i32,
    /// Factor of the scores before softmax.
    pub scale: f32,
    /// Bound of the scores, read by instances with a soft cap only; 0 otherwise.
    pub logits_cap: f32,
    /// From one row of q to the next.
    pub row_stride_q: i32,
    /// From one row of a page of k to the next.
    pub row_stride_k: i32,
    /// From one row of a page of v to the next.
    pub row_stride_v: i32,
    /// From one row of o to the next.
    pub row_stride_o: i32,
    /// From one head of q to the next.
    pub head_stride_q: i32,
    /// From one head of k to the next.
    pub head_stride_k: i32,
    /// From one head of v to the next.
    pub head_stride_v: i32,
    /// From one head of o to the next.
    pub head_stride_o: i32,
    /// From one page of k to the next.
    pub page_stride_k: i32,
    /// From one page of v to the next.
    pub page_stride_v: i32,
    /// From one head of lse to the next.
    pub head_stride_lse: i32,
    /// As in [`super::FmhaFwdArgs`].
    pub window_left: i32,
    /// As in [`super::FmhaFwdArgs`].
    pub window_right: i32,
    /// As in [`super::FmhaFwdArgs`].
    pub mask_origin: i32,
    /// As in [`super::FmhaFwdArgs`].
    pub min_seqlen_q: i32,
    /// 0.
    pub reserved: i32,
}

const _: () = assert!(size_of::<FmhaPagedArgs>() == 152);
