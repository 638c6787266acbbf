// The argument block of the combine kernels. Mirrored by `aiter_kernels::args::FmhaCombineArgs`.
#pragma once

struct FmhaCombineArgs {
  void* o;                // [batch, head, head dim], by the strides
  float* lse;             // [batch, head]
  const float* o_parts;   // [batch, head, split, head dim], as the split-KV kernels leave it
  const float* lse_parts; // [batch, head, split]
  int heads;
  int splits;
  int head_dim;
  int batch_stride_o; // in elements
  int head_stride_o;
  int reserved;
};
static_assert(sizeof(FmhaCombineArgs) == 56);
