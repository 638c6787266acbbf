// appendkv: writes new keys, rotated, and new values into a paged or contiguous cache. Grid: (most new rows of a sequence, batch).
#include "../common/geometry.h"
#include "append_kv_args.h"
#include "rotate.h"

namespace {

// Copies elements first..head_dim of every head of a row.
template <typename T>
DEVICE void copy(T* to, int to_stride, const T* from, int from_stride, int heads, int first, int head_dim) {
  const int width = head_dim - first;
  constexpr int size = vector_bytes / sizeof(T);
  const int lane = __builtin_amdgcn_workitem_id_x();
  if (width % size == 0) {
    for (int i = lane * size; i < heads * width; i += threads * size) {
      const long long head = i / width;
      const int element = first + i % width;
      Run<T, size> run;
      run.load(from + head * from_stride + element);
      run.store(to + head * to_stride + element);
    }
  } else {
    for (int i = lane; i < heads * width; i += threads) {
      const long long head = i / width;
      const int element = first + i % width;
      to[head * to_stride + element] = from[head * from_stride + element];
    }
  }
}

template <typename T>
DEVICE void append(const AppendKvArgs& args) {
  const int row = __builtin_amdgcn_workgroup_id_x();
  const int sequence = __builtin_amdgcn_workgroup_id_y();
  const long long first = args.cu_added ? args.cu_added[sequence] : static_cast<long long>(sequence) * args.added;
  const int added = args.cu_added ? args.cu_added[sequence + 1] - args.cu_added[sequence] : args.added;
  if (row >= added) return;

  const int key = args.filled[sequence] + row;
  long long page = sequence;
  int place = key;
  if (args.block_table) {
    page = args.block_table[static_cast<long long>(sequence) * args.block_table_stride + key / args.page_rows];
    place = key % args.page_rows;
  }
  const auto in_cache = [&](void* cache, long long page_stride, int row_stride) {
    return static_cast<T*>(cache) + page * page_stride + static_cast<long long>(place) * row_stride;
  };
  T* k = in_cache(args.k_cache, args.page_stride_k, args.row_stride_k);
  T* v = in_cache(args.v_cache, args.page_stride_v, args.row_stride_v);
  const T* k_new = static_cast<const T*>(args.k_new) + (first + row) * args.new_row_stride_k;
  const T* v_new = static_cast<const T*>(args.v_new) + (first + row) * args.new_row_stride_v;

  const int rotated = args.cos ? args.rotary_dim : 0;
  const long long angles = static_cast<long long>(key) * (rotated / 2);
  position::each_pair<T>(args.kv_heads, rotated / 2, [&](int head, int pair, auto run) {
    position::rotate<decltype(run)::count>(k + static_cast<long long>(head) * args.head_stride_k,
                                           k_new + static_cast<long long>(head) * args.new_head_stride_k, args.cos + angles,
                                           args.sin + angles, pair, rotated / 2, args.interleaved);
  });
  copy(k, args.head_stride_k, k_new, args.new_head_stride_k, args.kv_heads, rotated, args.head_dim);
  copy(v, args.head_stride_v, v_new, args.new_head_stride_v, args.kv_heads, 0, args.head_dim);
}

} // namespace

#define APPEND_KV(entry, T)                                                                                          \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void entry(AppendKvArgs args) {  \
    append<T>(args);                                                                                                 \
  }                                                                                                                  \
  KERNEL_GEOMETRY(entry, threads, 1, threads * vector_bytes / sizeof(T), 0, sizeof(AppendKvArgs), 0, {})

APPEND_KV(append_kv_bf16, __bf16);
APPEND_KV(append_kv_f16, _Float16);
