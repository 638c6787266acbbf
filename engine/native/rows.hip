// What the graph needs between products: sums, conversions, chosen rows, and the routing of experts.
#include "rows_args.h"
#include "wave.h"

namespace {

constexpr unsigned threads = 256;
// Numbers that a thread takes: a work-group's share is 1,024.
constexpr unsigned each = 4;

// This thread's numbers, a work-group's side by side.
template <typename Work>
DEVICE void for_each(unsigned count, Work work) {
  const unsigned first = __builtin_amdgcn_workgroup_id_x() * threads * each + thread_id();
  for (unsigned k = 0; k < each; ++k) {
    if (const unsigned i = first + k * threads; i < count) work(i);
  }
}

template <typename Out, typename In>
DEVICE void convert(const ConvertArgs& args) {
  for_each(args.count, [&](unsigned i) {
    static_cast<Out*>(args.out)[i] = static_cast<Out>(static_cast<const In*>(args.in)[i]);
  });
}

// Beyond the largest half there is infinity only, and it would spread.
DEVICE float within_half(float x) { return __builtin_amdgcn_fmed3f(x, -65504.0f, 65504.0f); }

// As many as the lanes of a wave have bits to mark.
constexpr unsigned most_experts = lanes * 32;
// The smallest normal half, as in llama.cpp.
constexpr float smallest_sum = 6.103515625e-5f;

DEVICE float larger(float a, float b) { return a > b ? a : b; }

// What is no number is the worst score, so that scores have an order.
DEVICE float score_of(float x) { return x == x ? x : -__builtin_inff(); }

// One wave a token. Expert e is number e / 32 of lane e % 32.
DEVICE void route(const RouteArgs& args) {
  constexpr float none = -__builtin_inff();
  const unsigned long long token = __builtin_amdgcn_workgroup_id_x();
  const float* scores = args.scores + token * args.count;
  float best = none;
  for (unsigned e = lane_id(); e < args.count; e += lanes) best = larger(best, score_of(scores[e]));
  for (unsigned step = lanes / 2; step > 0; step /= 2) best = larger(best, from_other(best, step));

  // v_exp_f32 is 2^x.
  constexpr float log2e = 1.44269504f;
  const auto weight_of = [&](float score) { return __builtin_amdgcn_exp2f((score - best) * log2e); };
  float all = 0.0f;
  for (unsigned e = lane_id(); e < args.count; e += lanes) all += weight_of(score_of(scores[e]));
  all = wave_sum(all);

  unsigned taken = 0; // a bit for each of this lane's experts
  float used_sum = 0.0f;
  for (unsigned k = 0; k < args.used; ++k) {
    float score = none;
    unsigned expert = most_experts;
    for (unsigned i = 0, e = lane_id(); e < args.count; ++i, e += lanes) {
      const float its = score_of(scores[e]);
      const bool is_better = !(taken >> i & 1) && (expert == most_experts || its > score);
      score = is_better ? its : score;
      expert = is_better ? e : expert;
    }
    // Of equal scores the first expert, as on the CPU.
    for (unsigned step = lanes / 2; step > 0; step /= 2) {
      const float other = from_other(score, step);
      const unsigned its = __builtin_amdgcn_ds_bpermute((lane_id() ^ step) * sizeof(unsigned), expert);
      const bool is_better = its < most_experts && (expert >= most_experts || other > score || (other == score && its < expert));
      score = is_better ? other : score;
      expert = is_better ? its : expert;
    }
    if (expert % lanes == lane_id()) taken |= 1u << (expert / lanes);
    const float weight = weight_of(score) / all;
    used_sum += weight;
    if (lane_id() == 0) {
      args.experts[token * args.used + k] = expert < args.count ? static_cast<int>(expert) : -1;
      args.weights[token * args.used + k] = weight;
    }
  }
  const float by = 1.0f / larger(used_sum, smallest_sum);
  if (lane_id() == 0) {
    for (unsigned k = 0; k < args.used; ++k) args.weights[token * args.used + k] *= by;
  }
}

} // namespace

KERNEL(threads) add_f32(AddArgs args) {
  for_each(args.count, [&](unsigned i) { args.out[i] = args.a[i] + args.b[i % args.period]; });
}

KERNEL(threads) convert_f32_f16(ConvertArgs args) {
  for_each(args.count, [&](unsigned i) {
    static_cast<_Float16*>(args.out)[i] = static_cast<_Float16>(within_half(static_cast<const float*>(args.in)[i]));
  });
}
KERNEL(threads) convert_f32_bf16(ConvertArgs args) { convert<__bf16, float>(args); }
KERNEL(threads) convert_f16_f32(ConvertArgs args) { convert<float, _Float16>(args); }

KERNEL(threads) gather_f32(GatherArgs args) {
  const unsigned long long n = __builtin_amdgcn_workgroup_id_x();
  const float* in = args.in + static_cast<unsigned long long>(args.rows[n]) * args.columns;
  for (unsigned c = thread_id(); c < args.columns; c += threads) args.out[n * args.columns + c] = in[c];
}

KERNEL(lanes) route_f32(RouteArgs args) { route(args); }

KERNEL(threads) mix_f32(MixArgs args) {
  const unsigned c = __builtin_amdgcn_workgroup_id_x() * threads + thread_id();
  const unsigned long long token = __builtin_amdgcn_workgroup_id_y();
  if (c >= args.columns) return;
  float sum = 0.0f;
  for (unsigned k = 0; k < args.used; ++k) {
    const unsigned long long row = token * args.used + k;
    sum += args.weights[row] * args.y[row * args.columns + c];
  }
  args.out[token * args.columns + c] = sum;
}

// Memory of the host: the other side is another processor, so the whole system has to see the order.
KERNEL(lanes) ring_u32(RingArgs args) {
  if (thread_id() == 0) __scoped_atomic_store_n(args.bell, *args.value, __ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM);
}

KERNEL(lanes) answer_u32(AnswerArgs args) {
  if (thread_id() != 0) return;
  unsigned seen = ~args.value;
  for (unsigned i = 0; i < args.tries && seen != args.value; ++i) {
    seen = __scoped_atomic_load_n(args.go, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM);
  }
  const unsigned answer = seen == args.value ? args.value : ~args.value;
  __scoped_atomic_store_n(args.done, answer, __ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM);
}
