// What the attention kernels have in common: the types that the catalogue names, and a tile of the catalogue's as ck_tile wants it.
#pragma once
#include "operand_layout.h"

namespace fmha {

using bf16 = ck_tile::bf16_t;
using f16 = ck_tile::half_t;

// q k^T is made k0 columns of the head dim at a time, p v in steps of k1 keys; each wave has 16 of the tile_m rows. v is row major.
template <int head_dim, int tile_m, int tile_n, int k0, int k1, int warps>
using Shape = ck_tile::TileFmhaShape<ck_tile::sequence<tile_m, tile_n, k0, head_dim, k1, head_dim>,
                                     ck_tile::sequence<warps, 1, 1>, ck_tile::sequence<16, 16, 16>,
                                     ck_tile::sequence<warps, 1, 1>, ck_tile::sequence<16, 16, 16>, true>;

template <bool masked>
using Mask = ck_tile::SimplifiedGenericAttentionMask<masked>;
using Variant = ck_tile::ComposedAttention<0, CK_TILE_FMHA_FWD_FAST_EXP2>;
constexpr auto no_bias = ck_tile::BlockAttentionBiasEnum::NO_BIAS;

// The softmax is computed with exp2.
__forceinline__ __device__ float exp2_scale(float scale) { return scale * ck_tile::log2e_v<float>; }

} // namespace fmha

// Defines one kernel and its geometry. The sizes are evaluated in a host context of their own: inside the initializer of a device variable
// they would break std::is_convertible for the rest of the file.
#define FMHA_KERNEL(entry, Args, run, head_dim, tile_m, tile_n, ...)                                                  \
  namespace entry##_instance {                                                                                       \
  using Kernel = __VA_ARGS__;                                                                                        \
  constexpr unsigned threads = Kernel::kBlockSize;                                                                   \
  constexpr unsigned lds_bytes = Kernel::GetSmemSize();                                                              \
  }                                                                                                                  \
  extern "C" __global__ __launch_bounds__(entry##_instance::threads) void entry(Args args) {                         \
    run<entry##_instance::Kernel>(args);                                                                             \
  }                                                                                                                  \
  KERNEL_GEOMETRY(entry, entry##_instance::threads, tile_m, tile_n, head_dim, sizeof(Args),                          \
                  entry##_instance::lds_bytes, {})
