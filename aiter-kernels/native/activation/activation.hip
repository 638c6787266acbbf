// Gated activations of a feed-forward layer: f(gate) * up, where one row of the input is [gate | up].
//
// No headers of ROCm and no device library: clang's builtins are all it takes. Grid: (rows, ceil(width / tile_n)).
#include "../common/geometry.h"
#include "activation_args.h"

#define DEVICE __attribute__((device, always_inline)) inline

namespace {

constexpr unsigned threads = 256;
constexpr unsigned vector_bytes = 16; // one global_load_b128 per lane and operand
template <typename T>
constexpr unsigned lane_elements = vector_bytes / sizeof(T);
template <typename T>
constexpr unsigned tile = threads * lane_elements<T>;

// v_exp_f32 is 2^x and v_rcp_f32 is good to one unit in the last place: a full division would cost ten instructions for a half of one.
DEVICE float exp(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504088896340736f); }
DEVICE float sigmoid(float x) { return __builtin_amdgcn_rcpf(1.0f + exp(-x)); }

struct Silu {
  static DEVICE float apply(float x) { return x * sigmoid(x); }
};

// 0.5 x (1 + tanh(u)) is x sigmoid(2 u); in this form nothing cancels for negative x.
struct GeluTanh {
  static DEVICE float apply(float x) {
    return x * sigmoid(2.0f * 0.7978845608028654f * (x + 0.044715f * x * x * x));
  }
};

// 0.5 x erfc(-x / sqrt 2), with erfc as e^(-z z) times a polynomial in 1 / (1 + z / 2): a Chebyshev fit whose relative error is 1.2e-7
// everywhere (Press et al., Numerical Recipes, 6.2), so the far negative side is as good as the rest.
struct Gelu {
  static DEVICE float apply(float x) {
    const float z = __builtin_fabsf(x) * 0.70710678118654752440f;
    const float t = __builtin_amdgcn_rcpf(1.0f + 0.5f * z);
    const float p = -1.26551223f + t * (1.00002368f + t * (0.37409196f + t * (0.09678418f + t * (-0.18628806f +
                    t * (0.27886807f + t * (-1.13520398f + t * (1.48851587f + t * (-0.82215223f + t * 0.17087277f))))))));
    const float tail = 0.5f * t * exp(p - z * z);
    return x * (x < 0.0f ? tail : 1.0f - tail);
  }
};

// Rows need no alignment: amdhsa runs with unaligned access, so 16 bytes are one instruction wherever they begin.
template <typename T>
struct Lane {
  T value[lane_elements<T>];
  DEVICE void load(const T* from) { __builtin_memcpy(value, from, vector_bytes); }
  DEVICE void store(T* to) const { __builtin_memcpy(to, value, vector_bytes); }
};

template <typename Function, typename T>
DEVICE T gated(T gate, T up) {
  return static_cast<T>(Function::apply(static_cast<float>(gate)) * static_cast<float>(up));
}

template <typename Function, typename T>
DEVICE void activation(const ActivationArgs& args) {
  const long long row = __builtin_amdgcn_workgroup_id_x();
  const int first = __builtin_amdgcn_workgroup_id_y() * tile<T> + __builtin_amdgcn_workitem_id_x() * lane_elements<T>;
  const T* gate = static_cast<const T*>(args.input) + row * args.input_row_stride;
  const T* up = gate + args.width;
  T* out = static_cast<T*>(args.out) + row * args.out_row_stride;

  if (first + static_cast<int>(lane_elements<T>) <= args.width) {
    Lane<T> g, u, o;
    g.load(gate + first);
    u.load(up + first);
    for (unsigned i = 0; i < lane_elements<T>; ++i) o.value[i] = gated<Function>(g.value[i], u.value[i]);
    o.store(out + first);
  } else {
    for (int c = first; c < args.width; ++c) out[c] = gated<Function>(gate[c], up[c]);
  }
}

} // namespace

#define ACTIVATION(entry, Function, T)                                                                               \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void entry(ActivationArgs args) { \
    activation<Function, T>(args);                                                                                   \
  }                                                                                                                  \
  KERNEL_GEOMETRY(entry, threads, 1, tile<T>, 0, sizeof(ActivationArgs), 0, {})

ACTIVATION(silu_and_mul_bf16, Silu, __bf16);
ACTIVATION(silu_and_mul_f16, Silu, _Float16);
ACTIVATION(silu_and_mul_f32, Silu, float);
ACTIVATION(gelu_and_mul_bf16, Gelu, __bf16);
ACTIVATION(gelu_and_mul_f16, Gelu, _Float16);
ACTIVATION(gelu_and_mul_f32, Gelu, float);
ACTIVATION(gelu_tanh_and_mul_bf16, GeluTanh, __bf16);
ACTIVATION(gelu_tanh_and_mul_f16, GeluTanh, _Float16);
ACTIVATION(gelu_tanh_and_mul_f32, GeluTanh, float);
