// Rows of stored weights times many rows of halves, on the matrix instructions (WMMA 16x16x16, sums in float). Weights become halves in registers,
// already in the layout that the instruction takes: no LDS and no barriers.
#include "matrix_args.h"
#include "weights.h"

namespace {

constexpr unsigned threads = 128;
constexpr unsigned waves = threads / lanes;
constexpr unsigned tile = 16;
// Tiles of x that a wave multiplies its tile of weights with: the weights are dequantised once for all of them.
constexpr unsigned tiles = 4;

typedef float Sums __attribute__((ext_vector_type(8)));

// gfx11: a lane holds all 16 numbers of its row, both halves of a wave the same. gfx12: a lane holds 8 of them, the second half the last 8.
#if defined(__GFX12__)
constexpr unsigned held = 8;
DEVICE unsigned first_held() { return lane_id() / tile * held; }
#elif defined(__GFX11__)
constexpr unsigned held = 16;
DEVICE unsigned first_held() { return 0; }
#else
#error "these kernels need WMMA: gfx11 or gfx12"
#endif

template <typename T>
struct Fragment;

template <>
struct Fragment<_Float16> {
  typedef _Float16 Vector __attribute__((ext_vector_type(held)));
  static DEVICE Sums multiply(Vector a, Vector b, Sums sums) {
#if defined(__GFX12__)
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, sums);
#else
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, sums);
#endif
  }
};

template <>
struct Fragment<__bf16> {
  typedef __bf16 Vector __attribute__((ext_vector_type(held)));
  typedef short Bits __attribute__((ext_vector_type(held)));
  static DEVICE Sums multiply(Vector a, Vector b, Sums sums) {
    const Bits x = __builtin_bit_cast(Bits, a), y = __builtin_bit_cast(Bits, b);
#if defined(__GFX12__)
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(x, y, sums);
#else
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(x, y, sums);
#endif
  }
};

// The row of the result that a lane's sum `i` belongs to; its column is the lane's number in its half.
DEVICE unsigned row_of_sum(unsigned i) {
#if defined(__GFX12__)
  return lane_id() / tile * 8 + i;
#else
  return 2 * i + lane_id() / tile;
#endif
}

DEVICE unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

template <typename Weights, typename Half>
DEVICE void multiply(const MultiplyMatrixArgs& args) {
  using Vector = typename Fragment<Half>::Vector;
  const unsigned place = lane_id() % tile;
  const unsigned first_row = (__builtin_amdgcn_workgroup_id_x() * waves + wave_id()) * tile;
  const unsigned first_n = __builtin_amdgcn_workgroup_id_y() * tiles * tile;
  if (first_row >= args.rows) return;

  // What lies beyond the end is computed from the last row and not stored.
  const unsigned row = smaller(first_row + place, args.rows - 1);
  const Byte* weights = static_cast<const Byte*>(args.weights) + row * Weights::row_bytes(args.columns);
  const Half* x[tiles];
  for (unsigned t = 0; t < tiles; ++t) {
    const unsigned long long n = smaller(first_n + t * tile + place, args.count - 1);
    x[t] = static_cast<const Half*>(args.x) + n * args.columns + first_held();
  }

  Sums sums[tiles] = {};
  for (unsigned k = 0; k < args.columns; k += tile) {
    Vector w;
    for (unsigned eight = 0; eight < held; eight += 8) {
      float numbers[8];
      Weights::load(weights, k + first_held() + eight, numbers);
      for (unsigned i = 0; i < 8; ++i) w[eight + i] = static_cast<Half>(numbers[i]);
    }
    for (unsigned t = 0; t < tiles; ++t) {
      // The same for all lanes: a short prompt does not pay for tiles it has no rows of.
      if (t > 0 && first_n + t * tile >= args.count) break;
      Vector by;
      __builtin_memcpy(&by, x[t] + k, sizeof(by));
      sums[t] = Fragment<Half>::multiply(by, w, sums[t]);
    }
  }

  if (first_row + place >= args.rows) return;
  for (unsigned t = 0; t < tiles; ++t) {
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned n = first_n + t * tile + row_of_sum(i);
      if (n < args.count) args.out[static_cast<unsigned long long>(n) * args.out_stride + first_row + place] = sums[t][i];
    }
  }
}

} // namespace

#define MATRIX(suffix, Weights, Half)                                                                                  \
  KERNEL(threads) multiply_matrix_##suffix(MultiplyMatrixArgs args) { multiply<Weights, Half>(args); }
#define MATRIX_OF_BLOCKS(suffix, Weights) MATRIX(suffix, Weights, _Float16)

MATRIX(f16, F16, _Float16)
MATRIX(bf16, Bf16, __bf16)
FOR_EACH_BLOCK_TYPE(MATRIX_OF_BLOCKS)
