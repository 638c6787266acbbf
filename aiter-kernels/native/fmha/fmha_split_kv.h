// Decode attention over a paged KV cache: one query a sequence or none, its keys shared out over work-groups.
//
// The query heads that share a kv head are the rows of the tile, so k and v are read once for all of them; they are seldom more than the 16
// of one wave. Grid: (ceil(heads_per_kv / tile_m) * value_parts * splits, kv heads, batch).
#pragma once
#include "../common/geometry.h"
#include "fmha_split_kv_args.h"
#include "instance.h"

namespace fmha {

using SplitKvTraits = ck_tile::TileFmhaFwdSplitKVTraits</* pad seqlen q, seqlen k */ true, true,
                                                        /* pad head dim q, v */ false, false, /* soft cap */ true,
                                                        no_bias, /* bias grad */ false, /* lse */ true,
                                                        /* fp8 static quant */ false, /* paged */ true,
                                                        /* splits of unequal length */ true,
                                                        /* heads of a group are rows */ true>;
template <typename Element, typename Shape>
using SplitKvProblem =
    ck_tile::BlockFmhaFwdSplitKVPipelineProblem<Element, Element, Element, float, float, Element, float, Element, float,
                                                float, Shape, /* varlen */ false, Variant, Mask<false>, SplitKvTraits>;
template <typename Element, typename Shape>
using SplitKv = ck_tile::FmhaFwdSplitKVKernel<
    ValueColumns<ck_tile::BlockFmhaFwdSplitKVPipelineQRKSVS<
        SplitKvProblem<Element, Shape>, rdna::AttentionPolicy<ck_tile::BlockFmhaFwdSplitKVPipelineQRKSVSDefaultPolicy>>>,
    ck_tile::Default2DEpilogue<ck_tile::Default2DEpilogueProblem<float, float, true, false>>>;

template <typename Kernel, int head_dim>
__forceinline__ __device__ void split_kv(const FmhaSplitKvArgs& args) {
  using Element = typename Kernel::VDataType;
  const int sequence = __builtin_amdgcn_workgroup_id_z();
  const int row = args.cu_seqlens_q[sequence];
  if (row == args.cu_seqlens_q[sequence + 1]) return;
  const int part = __builtin_amdgcn_workgroup_id_x() / args.splits % value_parts(head_dim);
  typename Kernel::Kargs k{};
  k.q_ptr = at<Element>(args.q, static_cast<long long>(row) * args.row_stride_q);
  k.k_ptr = args.k;
  k.v_ptr = at<Element>(args.v, part * Kernel::FmhaPipeline::kN1); // ck_tile moves along the columns of o alone
  k.o_acc_ptr = args.o_parts;
  k.lse_acc_ptr = args.lse_parts;
  k.seqlen_q = 1;
  k.hdim_q = head_dim;
  k.hdim_v = head_dim;
  k.num_head_q = args.heads;
  k.nhead_ratio_qk = args.heads_per_kv;
  k.num_splits = args.splits;
  set_scale(k, args);
  k.stride_q = args.heads * head_dim; // from one query to the next, and there is one
  k.stride_k = args.row_stride_k;
  k.stride_v = args.row_stride_v;
  k.stride_o_acc = head_dim;
  k.nhead_stride_q = args.head_stride_q;
  k.nhead_stride_k = args.head_stride_k;
  k.nhead_stride_v = args.head_stride_v;
  k.nhead_stride_lse_acc = args.splits;
  k.nhead_stride_o_acc = args.splits * head_dim;
  k.split_stride_lse_acc = 1;
  k.split_stride_o_acc = head_dim;
  k.block_table_ptr = args.block_table;
  k.batch_stride_block_table = args.block_table_stride;
  k.page_block_size = args.page_rows;
  k.seqlen_k_ptr = args.seqlens_k;
  k.batch_stride_q = 0; // the pointer is that of the row
  k.batch_stride_k = args.page_stride_k;
  k.batch_stride_v = args.page_stride_v;
  k.batch_stride_lse_acc = args.heads * args.splits;
  k.batch_stride_o_acc = args.heads * args.splits * head_dim;
  Kernel{}(k);
}

} // namespace fmha

#define FMHA_SPLIT_KV(entry, element, head_dim, tile_m, tile_n, k0, k1, warps)                                        \
  FMHA_KERNEL(entry, FmhaSplitKvArgs, fmha::split_kv, head_dim, tile_m, tile_n,                                      \
              fmha::SplitKv<fmha::element, fmha::Shape<head_dim, tile_m, tile_n, k0, k1, warps>>)
