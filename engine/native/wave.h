// What every kernel here stands on: clang's builtins, no headers of ROCm and no device library.
#pragma once

#define DEVICE __attribute__((device, always_inline)) inline
#define LDS static __attribute__((shared))

// A kernel of work-groups of `threads` threads.
#define KERNEL(threads) extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void

constexpr unsigned lanes = 32;

DEVICE unsigned thread_id() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE unsigned lane_id() { return thread_id() % lanes; }

// The number of this wave in its work-group, as a scalar.
DEVICE unsigned wave_id() { return __builtin_amdgcn_readfirstlane(thread_id() / lanes); }

// Orders LDS alone: with global memory the fences would drop the row from the cache that the second pass reads it from.
DEVICE void lds_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

// The number of the lane whose number differs in the bits of `step`.
DEVICE float from_other(float x, unsigned step) {
  const int other = __builtin_amdgcn_ds_bpermute((lane_id() ^ step) * sizeof(float), __builtin_bit_cast(int, x));
  return __builtin_bit_cast(float, other);
}

// The sum over the wave, in every lane. Always the same order, so the same input gives the same bits.
DEVICE float wave_sum(float x) {
  for (unsigned step = lanes / 2; step > 0; step /= 2) x += from_other(x, step);
  return x;
}
