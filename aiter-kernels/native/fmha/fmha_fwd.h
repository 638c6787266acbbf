// FMHA forward: o = softmax(scale q k^T) v with the logarithm of the softmax denominator.
#pragma once
#include "../common/geometry.h"
#include "fmha_fwd_args.h"
#include "instance.h"

namespace fmha {

// Lengths may be anything; the head dim is exact, which makes every load of q, k and v 16 bytes wide.
using ForwardTraits = ck_tile::TileFmhaTraits</* pad seqlen q, seqlen k */ true, true, /* pad head dim q, v */ false, false,
                                              /* soft cap */ false, no_bias, /* bias grad */ false, /* lse */ true,
                                              /* dropout */ false, /* fp8 static quant */ false>;
template <typename Element, typename Shape, bool varlen, bool masked>
using ForwardProblem =
    ck_tile::BlockFmhaPipelineProblem<Element, Element, Element, float, float, Element, unsigned char, float, Element,
                                      float, Element, Shape, varlen, Variant, Mask<masked>,
                                      /* transposed loads */ false, ForwardTraits>;
template <typename Element, typename Shape, bool varlen, bool masked>
using Forward = ck_tile::FmhaFwdKernel<
    ck_tile::BlockFmhaPipelineQRKSVS<ForwardProblem<Element, Shape, varlen, masked>,
                                     rdna::AttentionPolicy<ck_tile::BlockFmhaPipelineQRKSVSDefaultPolicy>>,
    ck_tile::Default2DEpilogue<ck_tile::Default2DEpilogueProblem<float, Element, true, false>>>;

template <typename Kernel>
__forceinline__ __device__ void forward(const FmhaFwdArgs& args) {
  typename Kernel::Kargs k{};
  k.q_ptr = args.q;
  k.k_ptr = args.k;
  k.v_ptr = args.v;
  k.o_ptr = args.o;
  k.seqlen_q = args.seqlen_q;
  k.seqlen_k = args.seqlen_k;
  k.hdim_q = Kernel::FmhaPipeline::kQKHeaddim;
  k.hdim_v = Kernel::FmhaPipeline::kN1;
  k.num_head_q = args.heads;
  k.nhead_ratio_qk = args.heads_per_kv;
  k.scale_s = exp2_scale(args.scale);
  k.stride_q = args.row_stride_q;
  k.stride_k = args.row_stride_k;
  k.stride_v = args.row_stride_v;
  k.stride_o = args.row_stride_o;
  k.nhead_stride_q = args.head_stride_q;
  k.nhead_stride_k = args.head_stride_k;
  k.nhead_stride_v = args.head_stride_v;
  k.nhead_stride_o = args.head_stride_o;
  k.lse_ptr = args.lse;
  k.nhead_stride_lse = args.head_stride_lse;
  k.batch_stride_lse = args.batch_stride_lse;
  if constexpr (Kernel::kHasMask) {
    k.window_size_left = args.window_left;
    k.window_size_right = args.window_right;
    k.mask_type = static_cast<ck_tile::GenericAttentionMaskEnum>(args.mask_origin);
  }
  if constexpr (Kernel::kIsGroupMode) {
    k.seqstart_q_ptr = args.cu_seqlens_q;
    k.seqstart_k_ptr = args.cu_seqlens_k;
  } else {
    k.batch_stride_q = args.batch_stride_q;
    k.batch_stride_k = args.batch_stride_k;
    k.batch_stride_v = args.batch_stride_v;
    k.batch_stride_o = args.batch_stride_o;
  }
  Kernel{}(k);
}

} // namespace fmha

#define FMHA_FWD(entry, element, varlen, masked, head_dim, tile_m, tile_n, k0, k1, warps)                             \
  FMHA_KERNEL(entry, FmhaFwdArgs, fmha::forward, head_dim, tile_m, tile_n,                                           \
              fmha::Forward<fmha::element, fmha::Shape<head_dim, tile_m, tile_n, k0, k1, warps>, varlen, masked>)
