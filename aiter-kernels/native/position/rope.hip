// Rotary embedding of the heads of each row by the row's position. Grid: (rows).
#include "../common/geometry.h"
#include "rope_args.h"
#include "rotate.h"

namespace {

template <typename T>
DEVICE void rope(const RopeArgs& args) {
  const unsigned row = __builtin_amdgcn_workgroup_id_x();
  const int half = args.rotary_dim / 2;
  const T* input = static_cast<const T*>(args.input) + static_cast<long long>(row) * args.input_row_stride;
  T* out = static_cast<T*>(args.out) + static_cast<long long>(row) * args.out_row_stride;
  const long long position = args.positions ? args.positions[row] : row / static_cast<unsigned>(args.batch);
  const long long angles = position * half;

  position::each_pair<T>(args.heads, half, [&](int head, int pair, auto run) {
    position::rotate<decltype(run)::count>(out + static_cast<long long>(head) * args.out_head_stride + args.first,
                                           input + static_cast<long long>(head) * args.input_head_stride + args.first,
                                           args.cos + angles, args.sin + angles, pair, half, args.interleaved);
  });
  const int lane = __builtin_amdgcn_workitem_id_x();
  const int others = args.head_dim - args.rotary_dim;
  if (others == 0 || out == input) return;
  const int first_other = args.first ? 0 : args.rotary_dim;
  for (int i = lane; i < args.heads * others; i += threads) {
    const long long head = i / others;
    const int element = first_other + i % others;
    out[head * args.out_head_stride + element] = input[head * args.input_head_stride + element];
  }
}

} // namespace

#define ROPE(entry, T)                                                                                               \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void entry(RopeArgs args) {      \
    rope<T>(args);                                                                                                   \
  }                                                                                                                  \
  KERNEL_GEOMETRY(entry, threads, 1, threads * vector_bytes / sizeof(T), 0, sizeof(RopeArgs), 0, {})

ROPE(rope_bf16, __bf16);
ROPE(rope_f16, _Float16);
ROPE(rope_f32, float);
