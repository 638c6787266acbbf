// The argument block of the split-KV kernels. Mirrored by `aiter_kernels::args::FmhaSplitKvArgs`.
#pragma once

// At most one query a sequence, row cu_seqlens_q[sequence] of q, which is [row of all sequences, head, head dim]; sequences without one are
// skipped. k and v are pages, as in FmhaPagedArgs. The keys of a sequence are shared out over `splits` work-groups, and fmha_combine puts the
// parts together.
struct FmhaSplitKvArgs {
  const void* q;
  const void* k;
  const void* v;
  float* o_parts;         // [batch, head, split, head dim]
  float* lse_parts;       // [batch, head, split]
  const int* cu_seqlens_q; // batch + 1 row offsets
  const int* seqlens_k;   // batch
  const int* block_table; // [batch, block_table_stride]
  int heads;
  int heads_per_kv;
  int splits;
  int page_rows; // a multiple of the kernel's tile_n
  int block_table_stride;
  float scale;
  float logits_cap; // read by instances with a soft cap only
  int row_stride_q;
  int head_stride_q;
  int row_stride_k, row_stride_v;
  int head_stride_k, head_stride_v;
  int page_stride_k, page_stride_v;
  int reserved;
};
static_assert(sizeof(FmhaSplitKvArgs) == 128);
