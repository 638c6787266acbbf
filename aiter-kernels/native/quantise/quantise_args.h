// The argument block of the quantisations. Mirrored by `aiter_kernels::args::QuantiseArgs`.
#pragma once

// out[row, c] = input[row, c] / scales[row], rounded, where scales[row] makes the largest magnitude of the row the format's largest number.
// Rows are contiguous; the strides between them are in elements.
struct QuantiseArgs {
  void* out;     // one byte an element
  float* scales; // [rows]; 1 for a row of zeros
  const void* input;
  long long out_row_stride;
  long long input_row_stride;
  int width;
  int reserved;
};
static_assert(sizeof(QuantiseArgs) == 48);
