// The argument block of the paged forward kernels. Mirrored by `aiter_kernels::args::FmhaPagedArgs`.
#pragma once

// q and o are [row of all sequences, head, head dim]; k and v are pages [page, row, kv head, head dim]. Strides are in elements; the head
// dim is contiguous. A sequence's key `j` is row `j % page_rows` of page `block_table[sequence, j / page_rows]`.
struct FmhaPagedArgs {
  const void* q;
  const void* k;
  const void* v;
  void* o;
  float* lse;              // [head, row of all sequences]
  const int* cu_seqlens_q; // batch + 1 row offsets
  const int* seqlens_k;    // batch
  const int* block_table;  // [batch, block_table_stride]
  int heads;
  int heads_per_kv;
  int page_rows; // a multiple of the kernel's tile_n: a tile must not cross a page
  int block_table_stride;
  float scale;
  float logits_cap; // read by instances with a soft cap only
  int row_stride_q, row_stride_k, row_stride_v, row_stride_o;
  int head_stride_q, head_stride_k, head_stride_v, head_stride_o;
  int page_stride_k, page_stride_v;
  int head_stride_lse;
  int window_left; // as in FmhaFwdArgs
  int window_right;
  int mask_origin;
  int min_seqlen_q;
  int reserved; // 0
};
static_assert(sizeof(FmhaPagedArgs) == 152);
