// A work-group of 256 lanes that walks over a row.
#pragma once

#define DEVICE __attribute__((device, always_inline)) inline

constexpr unsigned waves = 8;
constexpr unsigned threads = waves * 32;
constexpr unsigned vector_bytes = 16;

// `n` elements of a row; amdhsa allows unaligned access, so 16 bytes are one instruction wherever they begin.
template <typename T, int n>
struct Run {
  T value[n];
  DEVICE void load(const T* from) { __builtin_memcpy(value, from, sizeof(value)); }
  DEVICE void store(T* to) const { __builtin_memcpy(to, value, sizeof(value)); }
};

// Calls f(column, run) for this lane's part of a row: runs of 16 bytes, and single elements at the end of the row. The length of a run is
// part of its type: with a length that is a variable the elements would live in memory.
template <typename T, typename F>
DEVICE void each_run(int width, F f) {
  constexpr int size = vector_bytes / sizeof(T);
  for (int c = __builtin_amdgcn_workitem_id_x() * size; c < width; c += threads * size) {
    if (c + size <= width) {
      f(c, Run<T, size>{});
    } else {
      for (; c < width; ++c) f(c, Run<T, 1>{});
    }
  }
}
