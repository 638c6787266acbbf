use super::DevicePtr;

/// Arguments of the FMHA forward kernels (`native/fmha/fmha_fwd_args.h`).
///
/// Tensors are `[batch, row, head, head dim]` with any strides but a contiguous head dim; in varlen mode `[row of all sequences, head,
/// head dim]`, and the batch strides are not read. Strides are in elements. Addresses and strides of q, k and v are multiples of 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FmhaFwdArgs {
    /// Queries.
    pub q: DevicePtr,
    /// Keys.
    pub k: DevicePtr,
    /// Values.
    pub v: DevicePtr,
    /// The output.
    pub o: DevicePtr,
    /// Natural logarithm of the softmax denominator, f32: `[batch, head, row]`; varlen: `[head, row of all sequences]`. Never null.
    pub lse: DevicePtr,
    /// Varlen: batch + 1 row offsets of the queries, i32. Dense: null.
    pub cu_seqlens_q: DevicePtr,
    /// Varlen: batch + 1 row offsets of the keys, i32. Dense: null.
    pub cu_seqlens_k: DevicePtr,
    /// Dense: rows of q in each batch.
    pub seqlen_q: i32,
    /// Dense: rows of k and v in each batch.
    pub seqlen_k: i32,
    /// Heads of q.
    pub heads: i32,
    /// Heads of q that share one head of k and v: 1 is MHA, `heads` is MQA.
    pub heads_per_kv: i32,
    /// Factor of the scores before softmax, usually `1 / sqrt(head dim)`.
    pub scale: f32,
    /// Bound of the scores, read by instances with a soft cap only; 0 otherwise.
    pub logits_cap: f32,
    /// From one row of q to the next.
    pub row_stride_q: i32,
    /// From one row of k to the next.
    pub row_stride_k: i32,
    /// From one row of v to the next.
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
    /// From one batch of q to the next.
    pub batch_stride_q: i32,
    /// From one batch of k to the next.
    pub batch_stride_k: i32,
    /// From one batch of v to the next.
    pub batch_stride_v: i32,
    /// From one batch of o to the next.
    pub batch_stride_o: i32,
    /// From one head of lse to the next.
    pub head_stride_lse: i32,
    /// From one batch of lse to the next.
    pub batch_stride_lse: i32,
    /// Keys before the diagonal that a query sees; -1: all of them. Masked instances only.
    pub window_left: i32,
    /// Keys after the diagonal that a query sees; -1: all of them, 0: causal. Masked instances only.
    pub window_right: i32,
    /// Where the diagonal starts: 1 at the top left, 2 at the bottom right. Masked instances only.
    pub mask_origin: i32,
    /// Factor of o, that of v. Read by instances of 8-bit floats only.
    pub o_scale: f32,
    /// Varlen: a sequence of as many queries or fewer is left out, its rows of o and lse stay as they are.
    pub min_seqlen_q: i32,
    /// 0.
    pub reserved: i32,
}

const _: () = assert!(size_of::<FmhaFwdArgs>() == 160);
