// The argument block of the row-wise norms. Mirrored by `aiter_kernels::args::NormArgs`.
#pragma once

// out[row] = norm(input[row] + residual_in[row]) * weight + bias. Rows are contiguous; strides between them are in elements.
struct NormArgs {
  void* out;
  const void* input;
  const void* residual_in; // null: none
  void* residual_out;      // what the sum is written to; may be residual_in, and is null without it
  const void* weight; // width elements
  const void* bias;   // width elements, layer norm only; null: none
  long long out_row_stride;
  long long input_row_stride;
  long long residual_in_row_stride;
  long long residual_out_row_stride;
  int width;
  float epsilon; // added to the mean square, or to the variance
};
static_assert(sizeof(NormArgs) == 88);
