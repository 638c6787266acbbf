// The sum or the maximum of one number a lane over a work-group of whole waves.
#pragma once

#include "row.h"

namespace block {

struct Sum {
  static DEVICE float apply(float a, float b) { return a + b; }
};
struct Max {
  static DEVICE float apply(float a, float b) { return __builtin_fmaxf(a, b); }
};

DEVICE float from_lane(float value, int lane) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(4 * lane, __builtin_bit_cast(int, value)));
}

// A butterfly: after it every lane of the wave has the result, and each of them in the same order of operations.
template <typename Op>
DEVICE float reduce_wave(float value) {
  const int lane = __builtin_amdgcn_mbcnt_lo(~0u, 0u);
  for (int distance = 16; distance > 0; distance /= 2) value = Op::apply(value, from_lane(value, lane ^ distance));
  return value;
}

// Orders LDS alone: a fence over all memory would empty the cache that the next pass reads from.
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

// `partials` is LDS. Every lane gets the result; the work-group may call again at once.
template <typename Op, unsigned waves>
DEVICE float reduce(float value, __attribute__((address_space(3))) float* partials) {
  value = reduce_wave<Op>(value);
  const unsigned item = __builtin_amdgcn_workitem_id_x();
  barrier(); // the readers of the last call are done
  if (item % 32 == 0) partials[item / 32] = value;
  barrier();
  float result = partials[0];
  for (unsigned wave = 1; wave < waves; ++wave) result = Op::apply(result, partials[wave]);
  return result;
}

} // namespace block
