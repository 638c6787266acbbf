// What the attention kernels have in common: the types that the catalogue names, a tile of the catalogue's as ck_tile wants it, and what a
// kernel decides when it runs instead of by an instance of its own.
#pragma once
#include "operand_layout.h"

namespace fmha {

using bf16 = ck_tile::bf16_t;
using f16 = ck_tile::half_t;
using e4m3 = ck_tile::fp8_t; // as the OCP defines it, on gfx12 alone

// What q, k and v of 8 bits come out as: a mean of such numbers has more digits than one of them.
template <typename Element>
using Output = std::conditional_t<sizeof(Element) == 1, bf16, Element>;

// ck_tile's tiles of v and o are powers of two wide. A head dim of 96 takes one of 128, of which the last 32 columns are neither read nor
// written. One wave holds 16 rows of q and o in registers: with 256 columns of both, a gfx11 wave would need all 256 registers for them alone
// (its operands hold every row twice), so that two work-groups share a head, each with half of the columns of v and o.
constexpr int value_columns(int head_dim) { return head_dim == 96 || head_dim > 128 ? 128 : head_dim; }
constexpr int value_parts(int head_dim) { return (head_dim + 127) / 128; }

// For a tile that differs: gfx11's matrix instructions want every row of an operand twice, so that registers are scarce there.
#if defined(__GFX12__)
constexpr int of_family(int, int gfx12) { return gfx12; }
#else
constexpr int of_family(int gfx11, int) { return gfx11; }
#endif

// q k^T is made k0 columns of the head dim at a time, p v in steps of k1 keys; each wave has 16 of the tile_m rows. v is row major.
template <int head_dim, int tile_m, int tile_n, int k0, int k1, int warps>
using Shape = ck_tile::TileFmhaShape<ck_tile::sequence<tile_m, tile_n, k0, value_columns(head_dim), k1, head_dim>,
                                     ck_tile::sequence<warps, 1, 1>, ck_tile::sequence<16, 16, 16>,
                                     ck_tile::sequence<warps, 1, 1>, ck_tile::sequence<16, 16, 16>, true>;

// The columns of v and o beyond the head dim are masked 16 bytes at a time. ck_tile would take them one by one.
template <typename Pipeline>
struct ValueColumns : Pipeline {
  static constexpr bool kPadHeadDimV = Pipeline::kQKHeaddim % Pipeline::kN1 != 0;
};

// Every kernel has a mask: an open window costs one scalar comparison a tile of keys.
template <bool masked>
using Mask = ck_tile::SimplifiedGenericAttentionMask<masked>;
constexpr auto no_bias = ck_tile::BlockAttentionBiasEnum::NO_BIAS;

// The logits soft cap, decided by the cap: cap * tanh(score / cap), or the score alone where the cap is 0. The softmax is computed with exp2,
// so both are in units of log2 e. The price of deciding here is one multiplication a score where there is no cap.
struct Variant {
  template <typename Params>
  __forceinline__ __device__ float QueryTransform(const Params&, float score) const { return score; }

  template <typename Params>
  __forceinline__ __device__ float LogitsTransform(const Params& params, float score, unsigned, unsigned, unsigned) const {
    if (params.logits_soft_cap > 0.0f) return params.logits_soft_cap * ck_tile::tanh_fast(score * params.logits_soft_cap_rcp);
    return score * params.sm_scale;
  }

  template <typename Params>
  __forceinline__ __device__ bool LogitsMask(const Params& params, unsigned, unsigned query, unsigned key, unsigned, unsigned) const {
    return !params.impl_mask.IsOutOfBound(query, key);
  }
};

template <typename Kargs, typename Args>
__forceinline__ __device__ void set_scale(Kargs& k, const Args& args) {
  k.scale_s = args.scale * ck_tile::log2e_v<float>;
  k.logits_soft_cap = args.logits_cap;
  k.logits_soft_cap_rcp = args.logits_cap > 0.0f ? __builtin_amdgcn_rcpf(args.logits_cap) : 0.0f;
}

template <typename Element>
__forceinline__ __device__ const Element* at(const void* tensor, long long offset) {
  return static_cast<const Element*>(tensor) + offset;
}

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
    run<entry##_instance::Kernel, head_dim>(args);                                                                   \
  }                                                                                                                  \
  KERNEL_GEOMETRY(entry, entry##_instance::threads, tile_m, tile_n, head_dim, sizeof(Args),                          \
                  entry##_instance::lds_bytes, {})
