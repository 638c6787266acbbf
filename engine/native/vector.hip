// Rows of stored weights times one row of floats, and rows of stored weights as floats. Sums are float.
#include "vector_args.h"
#include "weights.h"

namespace {

constexpr unsigned threads = 256;
constexpr unsigned waves = threads / lanes;

// One wave a row of weights: each lane takes eight columns of 256, so that a wave reads whole lines.
template <typename Weights>
DEVICE void multiply(const MultiplyVectorArgs& args) {
  const unsigned row = __builtin_amdgcn_workgroup_id_x() * waves + wave_id();
  if (row >= args.rows) return;
  const unsigned long long from = __builtin_amdgcn_workgroup_id_z();
  const unsigned long long n = from * args.share + __builtin_amdgcn_workgroup_id_y();
  const int expert = args.experts ? args.experts[n] : 0;
  if (expert < 0) { // It is not here.
    if (lane_id() == 0) args.out[n * args.out_stride + row] = 0.0f;
    return;
  }
  const Byte* weights = static_cast<const Byte*>(args.weights) + static_cast<unsigned long long>(expert) * args.expert_bytes
    + row * Weights::row_bytes(args.columns);
  const float* x = args.x + from * args.columns;

  float sum = 0.0f;
  const unsigned whole = args.columns / 8 * 8;
  for (unsigned c = lane_id() * 8; c < whole; c += lanes * 8) {
    float w[8], by[8];
    Weights::load(weights, c, w);
    __builtin_memcpy(by, x + c, sizeof(by));
    for (unsigned i = 0; i < 8; ++i) sum += w[i] * by[i];
  }
  if (const unsigned c = whole + lane_id(); c < args.columns) sum += Weights::one(weights, c) * x[c];
  sum = wave_sum(sum);
  if (lane_id() == 0) args.out[n * args.out_stride + row] = sum;
}

template <typename Weights>
DEVICE void embed(const EmbedArgs& args) {
  const unsigned long long n = __builtin_amdgcn_workgroup_id_x();
  const Byte* row = static_cast<const Byte*>(args.table) + args.tokens[n] * Weights::row_bytes(args.columns);
  float* out = args.out + n * args.columns;
  const unsigned whole = args.columns / 8 * 8;
  for (unsigned c = thread_id() * 8; c < whole; c += threads * 8) {
    float numbers[8];
    Weights::load(row, c, numbers);
    __builtin_memcpy(out + c, numbers, sizeof(numbers));
  }
  if (const unsigned c = whole + thread_id(); c < args.columns) out[c] = Weights::one(row, c);
}

} // namespace

#define VECTOR(suffix, Weights)                                                                                        \
  KERNEL(threads) multiply_vector_##suffix(MultiplyVectorArgs args) { multiply<Weights>(args); }                       \
  KERNEL(threads) embed_##suffix(EmbedArgs args) { embed<Weights>(args); }

FOR_EACH_TYPE(VECTOR)
