// The argument block of the matrix kernels. Mirrored by `engine::kernels::matrix`.
#pragma once

// out[n, row] = weights[row, :] · x[n, :]. Grid: (rows / 64, count / 64, 1).
struct MultiplyMatrixArgs {
  float* out;
  const void* weights;
  const void* x;       // f16; bf16 where the weights are bf16
  unsigned columns;    // a multiple of 32
  unsigned rows;
  unsigned count;      // rows of x
  unsigned out_stride; // floats from one n to the next
};
static_assert(sizeof(MultiplyMatrixArgs) == 40);
