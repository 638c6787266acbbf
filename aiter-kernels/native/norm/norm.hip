// RMS norm and layer norm with a fused residual, and softmax, over the rows of a matrix: one work-group a row, rows of any length.
//
// A row is read once a pass (sum, then result; layer norm needs its mean first). The second pass finds it in the cache: a row of 16,384
// elements is 32 KiB. Each lane reads in every pass what it has read, or written, in the one before. Grid: (rows).
#include "../common/geometry.h"
#include "../common/row.h"
#include "../common/block_reduce.h"
#include "norm_args.h"

namespace {

constexpr float log2_e = 1.44269504088896340736f;
using Lds = __attribute__((address_space(3))) float;

template <typename T>
struct Row {
  T* out;
  const T* input;
  const T* residual_in;
  T* residual_out;
  const T* weight;
  const T* bias;
  int width;

  DEVICE explicit Row(const NormArgs& args) {
    const long long row = __builtin_amdgcn_workgroup_id_x();
    out = static_cast<T*>(args.out) + row * args.out_row_stride;
    input = static_cast<const T*>(args.input) + row * args.input_row_stride;
    residual_in = args.residual_in ? static_cast<const T*>(args.residual_in) + row * args.residual_in_row_stride : nullptr;
    residual_out = static_cast<T*>(args.residual_out) + row * args.residual_out_row_stride;
    weight = static_cast<const T*>(args.weight);
    bias = static_cast<const T*>(args.bias);
    width = args.width;
  }

  // Adds the residual, writes the rounded sum, and makes it the input of the passes that follow. Calls f(x) for each element.
  template <typename F>
  DEVICE void first_pass(F f) {
    if (!residual_in) return pass(f);
    each_run<T>(width, [&](int c, auto x) {
      auto r = x;
      x.load(input + c);
      r.load(residual_in + c);
      constexpr int n = sizeof(x.value) / sizeof(T);
      for (int i = 0; i < n; ++i) {
        x.value[i] = static_cast<T>(static_cast<float>(x.value[i]) + static_cast<float>(r.value[i]));
        f(static_cast<float>(x.value[i]));
      }
      x.store(residual_out + c);
    });
    input = residual_out;
  }

  template <typename F>
  DEVICE void pass(F f) const {
    each_run<T>(width, [&](int c, auto x) {
      x.load(input + c);
      for (T element : x.value) f(static_cast<float>(element));
    });
  }

  // out = f(x) * weight + bias, with a weight of one and a bias of zero where there is none.
  template <typename F>
  DEVICE void last_pass(F f) const {
    each_run<T>(width, [&](int c, auto x) {
      auto w = x, b = x;
      x.load(input + c);
      if (weight) w.load(weight + c);
      if (bias) b.load(bias + c);
      constexpr int n = sizeof(x.value) / sizeof(T);
      for (int i = 0; i < n; ++i) {
        float y = f(static_cast<float>(x.value[i]));
        if (weight) y *= static_cast<float>(w.value[i]);
        if (bias) y += static_cast<float>(b.value[i]);
        x.value[i] = static_cast<T>(y);
      }
      x.store(out + c);
    });
  }
};

template <typename T>
DEVICE void rms_norm(const NormArgs& args, Lds* partials) {
  Row<T> row(args);
  float squares = 0.0f;
  row.first_pass([&](float x) { squares += x * x; });
  const float mean = block::reduce<block::Sum, waves>(squares, partials) / args.width;
  const float factor = __builtin_amdgcn_rsqf(mean + args.epsilon);
  row.last_pass([&](float x) { return x * factor; });
}

template <typename T>
DEVICE void layer_norm(const NormArgs& args, Lds* partials) {
  Row<T> row(args);
  float sum = 0.0f;
  row.first_pass([&](float x) { sum += x; });
  const float mean = block::reduce<block::Sum, waves>(sum, partials) / args.width;
  // From the mean, not from the sum of squares: a row far from zero would lose its variance to cancellation.
  float squares = 0.0f;
  row.pass([&](float x) { squares += (x - mean) * (x - mean); });
  const float variance = block::reduce<block::Sum, waves>(squares, partials) / args.width;
  const float factor = __builtin_amdgcn_rsqf(variance + args.epsilon);
  row.last_pass([&](float x) { return (x - mean) * factor; });
}

template <typename T>
DEVICE void softmax(const NormArgs& args, Lds* partials) {
  Row<T> row(args);
  float top = -__builtin_inff();
  row.pass([&](float x) { top = __builtin_fmaxf(top, x); });
  top = block::reduce<block::Max, waves>(top, partials);
  float sum = 0.0f;
  row.pass([&](float x) { sum += __builtin_amdgcn_exp2f((x - top) * log2_e); });
  const float factor = __builtin_amdgcn_rcpf(block::reduce<block::Sum, waves>(sum, partials));
  row.last_pass([&](float x) { return __builtin_amdgcn_exp2f((x - top) * log2_e) * factor; });
}

} // namespace

#define NORM(entry, function, T)                                                                                     \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void entry(NormArgs args) {      \
    static __attribute__((shared)) float partials[waves];                                                            \
    function<T>(args, (Lds*)partials);                                                                               \
  }                                                                                                                  \
  KERNEL_GEOMETRY(entry, threads, 1, threads * vector_bytes / sizeof(T), 0, sizeof(NormArgs), sizeof(float) * waves, {})

NORM(rms_norm_bf16, rms_norm, __bf16);
NORM(rms_norm_f16, rms_norm, _Float16);
NORM(rms_norm_f32, rms_norm, float);
NORM(layer_norm_bf16, layer_norm, __bf16);
NORM(layer_norm_f16, layer_norm, _Float16);
NORM(layer_norm_f32, layer_norm, float);
NORM(softmax_bf16, softmax, __bf16);
NORM(softmax_f16, softmax, _Float16);
NORM(softmax_f32, softmax, float);
