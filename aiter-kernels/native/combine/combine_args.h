// The argument block of the combine kernels. Mirrored by `aiter_kernels::args::FmhaCombineArgs`.
#pragma once

struct FmhaCombineArgs {
  void* o;                 // [row of all sequences, head, head dim], by the strides
  float* lse;              // [head, row of all sequences]
  const int* cu_seqlens_q; // batch + 1 row offsets, one or none apart: a sequence without a query is skipped
  const float* o_parts;   // [batch, head, split, head dim], as the split-KV kernels leave it
  const float* lse_parts; // [batch, head, split]
  int heads;
  int splits;
  int head_dim;
  int row_stride_o; // in elements
  int head_stride_o;
  int head_stride_lse;
};
static_assert(sizeof(FmhaCombineArgs) == 64);
