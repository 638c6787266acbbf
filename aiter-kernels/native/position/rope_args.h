// The argument block of the rotary embeddings. Mirrored by `aiter_kernels::args::RopeArgs`.
#pragma once

// input and out are [row, head, head dim] with a contiguous head dim; they may be the same. Strides are in elements.
struct RopeArgs {
  void* out;
  const void* input;
  const float* cos;     // [position, rotary_dim / 2]
  const float* sin;
  const int* positions; // of each row; null: row r has the position r / batch
  long long out_row_stride;
  long long input_row_stride;
  int out_head_stride;
  int input_head_stride;
  int heads;
  int head_dim;
  int rotary_dim;  // even; the elements of a head that are rotated
  int first;       // of them in the head: 0, or head_dim - rotary_dim where those that are not rotated come first
  int interleaved; // 0: neox
  int batch;
};
static_assert(sizeof(RopeArgs) == 88);
