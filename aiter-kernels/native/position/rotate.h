// The rotary embedding of pairs of elements.
#pragma once
#include "../common/row.h"

namespace position {

// Rotates `n` pairs of a head, from pair `i` on. neox: element i with element i + half; interleaved: element 2 i with element 2 i + 1.
// `cos` and `sin` are those of the row's position. The pairs are read before they are written, so `out` may be `input`.
template <int n, typename T>
DEVICE void rotate(T* out, const T* input, const float* cos, const float* sin, int i, int half, bool interleaved) {
  Run<float, n> c, s;
  c.load(cos + i);
  s.load(sin + i);
  const auto turn = [&](T& a, T& b, int j) {
    const float x = static_cast<float>(a), y = static_cast<float>(b);
    a = static_cast<T>(x * c.value[j] - y * s.value[j]);
    b = static_cast<T>(y * c.value[j] + x * s.value[j]);
  };
  if (interleaved) {
    Run<T, 2 * n> x;
    x.load(input + 2 * i);
    for (int j = 0; j < n; ++j) turn(x.value[2 * j], x.value[2 * j + 1], j);
    x.store(out + 2 * i);
  } else {
    Run<T, n> a, b;
    a.load(input + i);
    b.load(input + i + half);
    for (int j = 0; j < n; ++j) turn(a.value[j], b.value[j], j);
    a.store(out + i);
    b.store(out + i + half);
  }
}

template <int n>
struct Count {
  static constexpr int count = n;
};

// Calls f(head, pair, count) for this lane's pairs of all heads of a row, a vector of pairs where a head has whole vectors, else one.
template <typename T, typename F>
DEVICE void each_pair(int heads, int half, F f) {
  const int lane = __builtin_amdgcn_workitem_id_x();
  constexpr int size = vector_bytes / sizeof(T);
  if (half % size == 0) {
    for (int p = lane * size; p < heads * half; p += threads * size) f(p / half, p % half, Count<size>{});
  } else {
    for (int p = lane; p < heads * half; p += threads) f(p / half, p % half, Count<1>{});
  }
}

} // namespace position
