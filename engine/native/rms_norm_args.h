// The argument block of RMS norm. Mirrored by `engine::rms_norm::RmsNorm`.
#pragma once

// out[row, c] = in[row, c] / sqrt(mean(in[row, :]^2) + epsilon) * weight[c]. Rows lie one after another, without gaps.
struct RmsNormArgs {
  void* out;
  const void* in;
  const void* weight;
  unsigned columns; // any number but 0
  float epsilon;
};
static_assert(sizeof(RmsNormArgs) == 32);
