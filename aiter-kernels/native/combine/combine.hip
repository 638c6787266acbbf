// Puts the parts of a split-KV decode together: the softmax over all keys from the softmax over each part and its LSE.
//
// Any number of splits and any head dim; a part without keys has an LSE of minus infinity and no weight. Grid: (heads, batch).
#include "../common/geometry.h"
#include "combine_args.h"

#define DEVICE __attribute__((device, always_inline)) inline

namespace {

constexpr unsigned threads = 64;
constexpr float infinity = __builtin_inff();
constexpr float log2_e = 1.44269504088896340736f;
constexpr float ln_2 = 0.69314718055994530942f;

// Every lane walks over the splits: the addresses are uniform, so the loads are scalar.
template <typename T>
DEVICE void combine(const FmhaCombineArgs& args) {
  const int head = __builtin_amdgcn_workgroup_id_x();
  const int batch = __builtin_amdgcn_workgroup_id_y();
  const int lane = __builtin_amdgcn_workitem_id_x();
  const long long row = args.cu_seqlens_q[batch];
  if (row == args.cu_seqlens_q[batch + 1]) return;
  const long long place = static_cast<long long>(batch) * args.heads + head;
  const float* lse_parts = args.lse_parts + place * args.splits;
  const float* o_parts = args.o_parts + place * args.splits * args.head_dim;
  T* o = static_cast<T*>(args.o) + row * args.row_stride_o + static_cast<long long>(head) * args.head_stride_o;

  float top = -infinity;
  for (int s = 0; s < args.splits; ++s) top = __builtin_fmaxf(top, lse_parts[s]);
  // Without any key all exponents would be of infinity minus infinity.
  const float origin = top == -infinity ? 0.0f : top;
  float sum = 0.0f;
  for (int s = 0; s < args.splits; ++s) sum += __builtin_amdgcn_exp2f((lse_parts[s] - origin) * log2_e);
  const float lse = origin + __builtin_amdgcn_logf(sum) * ln_2;
  if (lane == 0) args.lse[static_cast<long long>(head) * args.head_stride_lse + row] = lse;

  for (int d = lane; d < args.head_dim; d += threads) {
    float total = 0.0f;
    for (int s = 0; s < args.splits; ++s) {
      const float weight = __builtin_amdgcn_exp2f((lse_parts[s] - origin) * log2_e);
      total += weight * o_parts[s * args.head_dim + d];
    }
    o[d] = static_cast<T>(sum == 0.0f ? 0.0f : total / sum);
  }
}

} // namespace

#define COMBINE(entry, T)                                                                                            \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void entry(FmhaCombineArgs args) { \
    combine<T>(args);                                                                                                \
  }                                                                                                                  \
  KERNEL_GEOMETRY(entry, threads, 1, threads, 0, sizeof(FmhaCombineArgs), 0, {})

COMBINE(fmha_combine_bf16, __bf16);
COMBINE(fmha_combine_f16, _Float16);
