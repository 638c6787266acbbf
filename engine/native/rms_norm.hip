// RMS norm: one work-group for each row, of any length. Grid: (rows, 1, 1). Sums are float whatever the element is.
//
// No headers of ROCm and no device library: clang's builtins are all it takes.
#include "rms_norm_args.h"
#include "wave.h"

namespace {

constexpr unsigned threads = 256;
constexpr unsigned waves = threads / lanes;
constexpr unsigned vector_bytes = 16; // one global_load_b128

// This thread's share of a row: first whole vectors, then of the columns that make no whole vector at most one. A vector that was masked by element
// would be loaded element by element.
template <unsigned vector, typename Whole, typename Single>
DEVICE void for_each(unsigned columns, Whole whole, Single single) {
  const unsigned thread = __builtin_amdgcn_workitem_id_x();
  const unsigned vectors = columns / vector;
  for (unsigned i = thread; i < vectors; i += threads) whole(i * vector);
  if (const unsigned c = vectors * vector + thread; c < columns) single(c);
}

// Rows need no alignment: amdhsa runs with unaligned access, so 16 bytes are one instruction wherever they begin.
template <typename T>
struct Vector {
  static constexpr unsigned size = vector_bytes / sizeof(T);
  T value[size];
  DEVICE explicit Vector(const T* from) { __builtin_memcpy(value, from, vector_bytes); }
  DEVICE void store(T* to) const { __builtin_memcpy(to, value, vector_bytes); }
};

// The sum over the work-group, in every thread.
DEVICE float group_sum(float x) {
  LDS float partial[waves];
  const unsigned thread = __builtin_amdgcn_workitem_id_x();
  const float sum = wave_sum(x);
  if (thread % lanes == 0) partial[thread / lanes] = sum;
  lds_barrier();
  float total = 0.0f;
  for (unsigned wave = 0; wave < waves; ++wave) total += partial[wave];
  return total;
}

template <typename T>
DEVICE void rms_norm(const RmsNormArgs& args) {
  constexpr unsigned vector = Vector<T>::size;
  const unsigned long long row = __builtin_amdgcn_workgroup_id_x();
  const T* in = static_cast<const T*>(args.in) + row * args.columns;
  const T* weight = static_cast<const T*>(args.weight);
  T* out = static_cast<T*>(args.out) + row * args.columns;

  float squares = 0.0f;
  const auto add_square = [&](T element) { squares += static_cast<float>(element) * static_cast<float>(element); };
  for_each<vector>(
    args.columns,
    [&](unsigned c) {
      const Vector<T> x(in + c);
      for (unsigned i = 0; i < vector; ++i) add_square(x.value[i]);
    },
    [&](unsigned c) { add_square(in[c]); });

  // v_rcp_f32 and v_rsq_f32 are good to one unit in the last place.
  const float mean = group_sum(squares) * __builtin_amdgcn_rcpf(static_cast<float>(args.columns));
  const float scale = __builtin_amdgcn_rsqf(mean + args.epsilon);
  const auto scaled = [&](T element, T by) {
    return static_cast<T>(static_cast<float>(element) * scale * static_cast<float>(by));
  };
  for_each<vector>(
    args.columns,
    [&](unsigned c) {
      Vector<T> x(in + c);
      const Vector<T> w(weight + c);
      for (unsigned i = 0; i < vector; ++i) x.value[i] = scaled(x.value[i], w.value[i]);
      x.store(out + c);
    },
    [&](unsigned c) { out[c] = scaled(in[c], weight[c]); });
}

} // namespace

// What a launcher has to start a work-group with.
extern "C" __attribute__((device, used, visibility("protected"))) const unsigned rms_norm_threads = threads;

#define RMS_NORM(entry, T)                                                                                             \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void entry(RmsNormArgs args) {     \
    rms_norm<T>(args);                                                                                                 \
  }

RMS_NORM(rms_norm_f32, float)
RMS_NORM(rms_norm_f16, _Float16)
RMS_NORM(rms_norm_bf16, __bf16)
