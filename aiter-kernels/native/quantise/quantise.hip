// Quantisation to int8 or fp8 (OCP e4m3) with one scale a row ("per token"): one work-group a row, rows of any length. Grid: (rows).
//
// A row is read twice, for its largest magnitude and for the result; the second pass finds it in the cache.
#include "../common/block_reduce.h"
#include "../common/geometry.h"
#include "../common/row.h"
#include "quantise_args.h"

namespace {

using Lds = __attribute__((address_space(3))) float;

// To nearest, ties to even; what is no number becomes 0.
struct Int8 {
  static constexpr float max = 127.0f;
  static DEVICE unsigned char encode(float x) {
    const float bounded = __builtin_fminf(__builtin_fmaxf(__builtin_rintf(x), -max), max);
    return static_cast<unsigned char>(static_cast<int>(x == x ? bounded : 0.0f));
  }
};

// In integers: RDNA 3 has no instruction for it, and RDNA 4 is held to the same bits. What is no number stays none.
struct E4m3 {
  static constexpr float max = 448.0f;
  static DEVICE unsigned char encode(float x) {
    const unsigned sign = __builtin_bit_cast(unsigned, x) >> 24 & 0x80;
    const float magnitude = __builtin_fminf(__builtin_fabsf(x), max);
    // Below 2^-6 the steps are 2^-9 wide, and one more step than there are is the smallest number with an exponent.
    const unsigned small = static_cast<unsigned>(__builtin_rintf(magnitude * 512.0f));
    const unsigned bits = __builtin_bit_cast(unsigned, magnitude);
    const unsigned rounded = (bits + 0x7ffff + (bits >> 20 & 1)) >> 20; // 3 bits of the fraction stay
    const unsigned large = rounded - ((127 - 7) << 3);
    const unsigned code = magnitude < 0x1p-6f ? small : large;
    return static_cast<unsigned char>(sign | (x == x ? code : 0x7fu));
  }
};

template <typename Format, typename T>
DEVICE void quantise(const QuantiseArgs& args, Lds* partials) {
  const long long row = __builtin_amdgcn_workgroup_id_x();
  const T* input = static_cast<const T*>(args.input) + row * args.input_row_stride;
  unsigned char* out = static_cast<unsigned char*>(args.out) + row * args.out_row_stride;

  float largest = 0.0f;
  each_run<T>(args.width, [&](int c, auto x) {
    x.load(input + c);
    for (T element : x.value) largest = __builtin_fmaxf(largest, __builtin_fabsf(static_cast<float>(element)));
  });
  largest = block::reduce<block::Max, waves>(largest, partials);
  const float factor = largest > 0.0f ? Format::max / largest : 1.0f;
  if (__builtin_amdgcn_workitem_id_x() == 0) args.scales[row] = largest > 0.0f ? largest / Format::max : 1.0f;
  each_run<T>(args.width, [&](int c, auto x) {
    constexpr int n = sizeof(x.value) / sizeof(T);
    Run<unsigned char, n> y;
    x.load(input + c);
    for (int i = 0; i < n; ++i) y.value[i] = Format::encode(static_cast<float>(x.value[i]) * factor);
    y.store(out + c);
  });
}

} // namespace

#define QUANTISE(entry, Format, T)                                                                                   \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void entry(QuantiseArgs args) {  \
    static __attribute__((shared)) float partials[waves];                                                            \
    quantise<Format, T>(args, (Lds*)partials);                                                                       \
  }                                                                                                                  \
  KERNEL_GEOMETRY(entry, threads, 1, threads * vector_bytes / sizeof(T), 0, sizeof(QuantiseArgs), sizeof(float) * waves, {})

QUANTISE(quantise_int8_bf16, Int8, __bf16);
QUANTISE(quantise_int8_f16, Int8, _Float16);
QUANTISE(quantise_int8_f32, Int8, float);
QUANTISE(quantise_e4m3_bf16, E4m3, __bf16);
QUANTISE(quantise_e4m3_f16, E4m3, _Float16);
QUANTISE(quantise_e4m3_f32, E4m3, float);
