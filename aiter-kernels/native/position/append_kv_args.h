// The argument block of appendkv. Mirrored by `aiter_kernels::args::AppendKvArgs`.
#pragma once

// New keys and values go behind those that a sequence has in its cache. The caches are pages [page, row, kv head, head dim] under a block
// table, or, without one, [sequence, row, kv head, head dim]; the new rows are [new row of all sequences, kv head, head dim]. Strides are in
// elements; the head dim is contiguous.
struct AppendKvArgs {
  void* k_cache;
  void* v_cache;
  const void* k_new;
  const void* v_new;
  const float* cos; // [position, rotary_dim / 2]; null: keys are not rotated
  const float* sin;
  const int* filled;      // keys that each sequence has: the position of its first new one
  const int* cu_added;    // batch + 1 offsets of the new rows; null: `added` rows each
  const int* block_table; // [batch, block_table_stride]; null: no pages
  long long page_stride_k; // from one page, or without pages from one sequence, to the next
  long long page_stride_v;
  int added;
  int kv_heads;
  int head_dim;
  int rotary_dim;  // even; the first elements of a head are rotated
  int interleaved; // 0: neox
  int page_rows;
  int block_table_stride;
  int row_stride_k, row_stride_v;
  int head_stride_k, head_stride_v;
  int new_row_stride_k, new_row_stride_v;
  int new_head_stride_k, new_head_stride_v;
  int reserved;
};
static_assert(sizeof(AppendKvArgs) == 152);
