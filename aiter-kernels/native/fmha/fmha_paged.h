// FMHA forward over a paged KV cache: queries of any length a sequence, keys and values by block table.
//
// Grid: (heads * value_parts, batch, ceil(queries / tile_m)).
#pragma once
#include "../common/geometry.h"
#include "fmha_paged_args.h"
#include "instance.h"

namespace fmha {

using PagedTraits = ck_tile::TileFmhaFwdPagedKVTraits</* pad seqlen q, seqlen k */ true, true,
                                                      /* pad head dim q, v */ false, false, /* soft cap */ true, no_bias,
                                                      /* bias grad */ false, /* lse */ true, /* paged */ true,
                                                      /* fp8 static quant */ false>;
template <typename Element, typename Shape>
using PagedProblem =
    ck_tile::BlockFmhaFwdPagedKVPipelineProblem<Element, Element, Element, float, float, Element, float, Element, float,
                                                Element, Shape, /* varlen */ true, Variant, Mask<true>, PagedTraits>;
template <typename Element, typename Shape>
using Paged = ck_tile::FmhaFwdPagedKVKernel<
    ValueColumns<ck_tile::BlockFmhaFwdPagedKVPipelineQRKSVS<
        PagedProblem<Element, Shape>, rdna::AttentionPolicy<ck_tile::BlockFmhaFwdPagedKVPipelineQRKSVSDefaultPolicy>>>,
    ck_tile::Default2DEpilogue<ck_tile::Default2DEpilogueProblem<float, Element, true, false>>>;

template <typename Kernel, int head_dim>
__forceinline__ __device__ void paged(const FmhaPagedArgs& args) {
  using Element = typename Kernel::QDataType;
  const int batch = __builtin_amdgcn_workgroup_id_y();
  if (args.cu_seqlens_q[batch + 1] - args.cu_seqlens_q[batch] <= args.min_seqlen_q) return;

  constexpr int parts = value_parts(head_dim);
  const int head = __builtin_amdgcn_workgroup_id_x() / parts;
  const int part = __builtin_amdgcn_workgroup_id_x() % parts;
  const int kv_head = head / args.heads_per_kv;

  // The pointers are those of the head, so that ck_tile's own stride of heads is zero.
  typename Kernel::Kargs k{};
  k.q_ptr = at<Element>(args.q, static_cast<long long>(head) * args.head_stride_q);
  k.k_ptr = at<Element>(args.k, static_cast<long long>(kv_head) * args.head_stride_k);
  k.v_ptr = at<Element>(args.v, static_cast<long long>(kv_head) * args.head_stride_v + part * Kernel::FmhaPipeline::kN1);
  k.o_ptr = static_cast<typename Kernel::ODataType*>(args.o) + static_cast<long long>(head) * args.head_stride_o +
            part * Kernel::FmhaPipeline::kN1;
  k.lse_ptr = args.lse + static_cast<long long>(head) * args.head_stride_lse;
  k.seqlen_q = -1; // from the offsets
  k.seqlen_k = -1;
  k.hdim_q = head_dim;
  k.hdim_v = head_dim / parts;
  k.num_head_q = args.heads;
  k.nhead_ratio_qk = 1;
  set_scale(k, args);
  k.stride_q = args.row_stride_q;
  k.stride_k = args.row_stride_k;
  k.stride_v = args.row_stride_v;
  k.stride_o = args.row_stride_o;
  k.window_size_left = args.window_left;
  k.window_size_right = args.window_right;
  k.mask_type = static_cast<ck_tile::GenericAttentionMaskEnum>(args.mask_origin);
  k.block_table_ptr = args.block_table;
  k.batch_stride_block_table = args.block_table_stride;
  k.page_block_size = args.page_rows;
  k.is_gappy = false;
  k.seqstart_q_ptr = args.cu_seqlens_q;
  // Read for every sequence and used for contiguous keys only: any array of that length will do.
  k.seqstart_k_ptr = args.cu_seqlens_q;
  k.seqlen_k_ptr = args.seqlens_k;
  k.batch_stride_k = args.page_stride_k;
  k.batch_stride_v = args.page_stride_v;
  Kernel{}(k);
}

} // namespace fmha

#define FMHA_PAGED(entry, element, head_dim, tile_m, tile_n, k0, k1, warps)                                           \
  FMHA_KERNEL(entry, FmhaPagedArgs, fmha::paged, head_dim, tile_m, tile_n,                                           \
              fmha::Paged<fmha::element, fmha::Shape<head_dim, tile_m, tile_n, k0, k1, warps>>)
