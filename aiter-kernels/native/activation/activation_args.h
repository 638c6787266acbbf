// The argument block of the gated activations. Mirrored by `aiter_kernels::args::ActivationArgs`.
#pragma once

// out[row, c] = f(input[row, c]) * input[row, width + c] for c in 0..width. Strides are in elements.
struct ActivationArgs {
  void* out;
  const void* input;
  long long out_row_stride;
  long long input_row_stride;
  int width; // columns of out, half of the columns of input
  int reserved;
};
static_assert(sizeof(ActivationArgs) == 40);
