// The argument block of the forward kernels: ours, so it stays when upstream's changes. Mirrored by `aiter_kernels::args::FmhaFwdArgs`.
#pragma once

// Strides are in elements. Tensors are [batch, row, head, head dim] with any strides but a contiguous head dim;
// in varlen mode [row of all sequences, head, head dim], and the batch strides are not read.
struct FmhaFwdArgs {
  const void* q;
  const void* k;
  const void* v;
  void* o;
  float* lse;              // natural logarithm of the softmax denominator, [batch, head, row]; varlen: [head, row of all sequences]
  const int* cu_seqlens_q; // varlen: batch + 1 row offsets
  const int* cu_seqlens_k;
  int seqlen_q; // dense only
  int seqlen_k;
  int heads;          // of q
  int heads_per_kv;   // q heads that share one kv head (GQA); 1: MHA
  float scale;        // of the scores, before softmax
  float logits_cap;   // read by instances with a soft cap only
  int row_stride_q, row_stride_k, row_stride_v, row_stride_o;
  int head_stride_q, head_stride_k, head_stride_v, head_stride_o;
  int batch_stride_q, batch_stride_k, batch_stride_v, batch_stride_o;
  int head_stride_lse, batch_stride_lse;
  int window_left;  // keys before the diagonal that a query sees; -1: all. Masked instances only.
  int window_right; // keys after it; causal: 0
  int mask_origin;  // where the diagonal starts: 1 top left, 2 bottom right
  float o_scale;    // factor of o; read by instances of 8-bit floats only
  int min_seqlen_q; // varlen: a sequence of as many queries or fewer is left out
  int reserved;     // 0
};
static_assert(sizeof(FmhaFwdArgs) == 160);
