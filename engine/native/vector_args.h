// The argument blocks of the vector kernels. Mirrored by `engine::kernels::vector`.
#pragma once

// out[n, row] = weights of expert e [row, :] · x[n / share, :], where e is experts[n], or 0 without experts; 0 where e is below 0. Grid: (rows / 8, share, rows of x).
struct MultiplyVectorArgs {
  float* out;
  const void* weights;
  const float* x;
  const int* experts; // null: one matrix
  unsigned long long expert_bytes;
  unsigned columns;
  unsigned rows;
  unsigned out_stride; // floats from one n to the next
  unsigned share;      // results that each row of x has
};
static_assert(sizeof(MultiplyVectorArgs) == 56);

// out[n, :] = table[tokens[n], :]. Grid: (n, 1, 1).
struct EmbedArgs {
  float* out;
  const void* table;
  const unsigned* tokens;
  unsigned columns;
  unsigned reserved;
};
static_assert(sizeof(EmbedArgs) == 32);
