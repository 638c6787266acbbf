// FMHA forward: o = softmax(scale q k^T) v with the logarithm of the softmax denominator.
//
// One kernel for dense and varlen, with and without window and soft cap: which of them is a matter of scalars, and the sequence that a
// work-group works on is found here, before ck_tile's kernel starts. Grid: (heads * value_parts, ceil(queries / tile_m), batch).
#pragma once
#include "../common/geometry.h"
#include "fmha_fwd_args.h"
#include "instance.h"

namespace fmha {

// The second product takes the weights of the softmax in the type of v. They are at most 1, and e4m3 has its digits between 2^-6 and 448: times
// this, what is lost begins at 2^-14 instead of 2^-6.
constexpr float e4m3_weight = 256.0f;

// Lengths may be anything; the head dim is exact, which makes every load of q, k and v 16 bytes wide.
template <typename Element>
using ForwardTraits = ck_tile::TileFmhaTraits</* pad seqlen q, seqlen k */ true, true, /* pad head dim q, v */ false, false,
                                              /* soft cap */ true, no_bias, /* bias grad */ false, /* lse */ true,
                                              /* dropout */ false, /* factors of weights and o */ sizeof(Element) == 1>;
template <typename Element, typename Shape>
using ForwardProblem =
    ck_tile::BlockFmhaPipelineProblem<Element, Element, Element, float, float, Element, unsigned char, float, Element,
                                      float, Output<Element>, Shape, /* varlen */ false, Variant, Mask<true>,
                                      /* transposed loads */ false, ForwardTraits<Element>>;
template <typename Element, typename Shape>
using Forward = ck_tile::FmhaFwdKernel<
    ValueColumns<ck_tile::BlockFmhaPipelineQRKSVS<
        ForwardProblem<Element, Shape>, rdna::AttentionPolicy<ck_tile::BlockFmhaPipelineQRKSVSDefaultPolicy>>>,
    ck_tile::Default2DEpilogue<ck_tile::Default2DEpilogueProblem<float, Output<Element>, true, false>>>;

template <typename Kernel, int head_dim>
__forceinline__ __device__ void forward(const FmhaFwdArgs& args) {
  using Element = typename Kernel::QDataType;
  constexpr int parts = (head_dim + Kernel::FmhaPipeline::kN1 - 1) / Kernel::FmhaPipeline::kN1;
  const int head = __builtin_amdgcn_workgroup_id_x() / parts;
  const int part = __builtin_amdgcn_workgroup_id_x() % parts;
  const int batch = __builtin_amdgcn_workgroup_id_z();
  const int kv_head = head / args.heads_per_kv;
  const bool varlen = args.cu_seqlens_q != nullptr;

  typename Kernel::Kargs k{};
  k.seqlen_q = args.seqlen_q;
  k.seqlen_k = args.seqlen_k;
  long long q = static_cast<long long>(batch) * args.batch_stride_q;
  long long keys = static_cast<long long>(batch) * args.batch_stride_k;
  long long values = static_cast<long long>(batch) * args.batch_stride_v;
  long long o = static_cast<long long>(batch) * args.batch_stride_o;
  long long lse = static_cast<long long>(batch) * args.batch_stride_lse;
  if (varlen) {
    const int first_query = args.cu_seqlens_q[batch], first_key = args.cu_seqlens_k[batch];
    k.seqlen_q = args.cu_seqlens_q[batch + 1] - first_query;
    k.seqlen_k = args.cu_seqlens_k[batch + 1] - first_key;
    q = static_cast<long long>(first_query) * args.row_stride_q;
    keys = static_cast<long long>(first_key) * args.row_stride_k;
    values = static_cast<long long>(first_key) * args.row_stride_v;
    o = static_cast<long long>(first_query) * args.row_stride_o;
    lse = first_query;
    // The grid is made for the longest sequence, and ck_tile takes its tiles from the last to the first.
    const int tile = gridDim.y - 1 - __builtin_amdgcn_workgroup_id_y();
    if (tile * Kernel::FmhaPipeline::kM0 >= k.seqlen_q || k.seqlen_q <= args.min_seqlen_q) return;
  }
  // The pointers are those of the head, so that ck_tile's own strides of heads and batches are zero.
  k.q_ptr = at<Element>(args.q, q + static_cast<long long>(head) * args.head_stride_q);
  k.k_ptr = at<Element>(args.k, keys + static_cast<long long>(kv_head) * args.head_stride_k);
  k.v_ptr = at<Element>(args.v, values + static_cast<long long>(kv_head) * args.head_stride_v + part * Kernel::FmhaPipeline::kN1);
  k.o_ptr = static_cast<typename Kernel::ODataType*>(args.o) + o + static_cast<long long>(head) * args.head_stride_o +
            part * Kernel::FmhaPipeline::kN1;
  k.lse_ptr = args.lse + lse + static_cast<long long>(head) * args.head_stride_lse;
  k.hdim_q = head_dim;
  k.hdim_v = head_dim / parts;
  k.num_head_q = args.heads;
  k.nhead_ratio_qk = 1;
  set_scale(k, args);
  if constexpr (Kernel::kDoFp8StaticQuant) {
    k.scale_p = e4m3_weight;
    k.scale_o = args.o_scale / e4m3_weight;
  }
  k.stride_q = args.row_stride_q;
  k.stride_k = args.row_stride_k;
  k.stride_v = args.row_stride_v;
  k.stride_o = args.row_stride_o;
  k.window_size_left = args.window_left;
  k.window_size_right = args.window_right;
  k.mask_type = static_cast<ck_tile::GenericAttentionMaskEnum>(args.mask_origin);
  Kernel{}(k);
}

} // namespace fmha

#define FMHA_FWD(entry, element, head_dim, tile_m, tile_n, k0, k1, warps)                                             \
  FMHA_KERNEL(entry, FmhaFwdArgs, fmha::forward, head_dim, tile_m, tile_n,                                           \
              fmha::Forward<fmha::element, fmha::Shape<head_dim, tile_m, tile_n, k0, k1, warps>>)
