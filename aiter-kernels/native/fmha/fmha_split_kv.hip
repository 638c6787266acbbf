// Decode attention over a paged KV cache: one query a sequence, its keys shared out over work-groups. One kernel an object.
//
// The query heads that share a kv head are the rows of the tile, so k and v are read once for all of them; with one query there are never
// more rows than one wave takes, or few more. Grid: (ceil(heads_per_kv / tile_m) * splits, kv heads, batch).
//
// The build defines, from the catalogue: ENTRY, ELEMENT, HEAD_DIM, TILE_M, TILE_N, TILE_K0, TILE_K1, WARPS.
#include "../common/geometry.h"
#include "element.h"
#include "fmha_split_kv_args.h"
#include "operand_layout.h"

namespace {

using Element = element::ELEMENT;
using Warps = ck_tile::sequence<WARPS, 1, 1>;
using Wmma = ck_tile::sequence<16, 16, 16>;
using Shape = ck_tile::TileFmhaShape<ck_tile::sequence<TILE_M, TILE_N, TILE_K0, HEAD_DIM, TILE_K1, HEAD_DIM>,
                                     Warps, Wmma, Warps, Wmma, /* v is row major */ true>;
using Traits = ck_tile::TileFmhaFwdSplitKVTraits</* pad seqlen q, seqlen k */ true, true,
                                                 /* pad head dim q, v */ false, false, /* soft cap */ false,
                                                 ck_tile::BlockAttentionBiasEnum::NO_BIAS, /* bias grad */ false,
                                                 /* lse */ true, /* fp8 static quant */ false, /* paged */ true,
                                                 /* splits of unequal length */ true,
                                                 /* heads of a group are rows */ true>;
using Mask = ck_tile::SimplifiedGenericAttentionMask<false>;
using Variant = ck_tile::ComposedAttention<0, CK_TILE_FMHA_FWD_FAST_EXP2>;
using Problem = ck_tile::BlockFmhaFwdSplitKVPipelineProblem<Element, Element, Element, float, float, Element, float, Element,
                                                            float, float, Shape, /* varlen */ false, Variant, Mask,
                                                            Traits>;
using Policy = rdna::AttentionPolicy<ck_tile::BlockFmhaFwdSplitKVPipelineQRKSVSDefaultPolicy>;
using Pipeline = ck_tile::BlockFmhaFwdSplitKVPipelineQRKSVS<Problem, Policy>;
using Epilogue = ck_tile::Default2DEpilogue<ck_tile::Default2DEpilogueProblem<float, float, true, false>>;
using Kernel = ck_tile::FmhaFwdSplitKVKernel<Pipeline, Epilogue>;

// In a host context, see fmha_fwd.hip.
constexpr unsigned threads = Kernel::kBlockSize;
constexpr unsigned lds_bytes = Kernel::GetSmemSize();

} // namespace

extern "C" __global__ __launch_bounds__(WARPS * 32) void ENTRY(FmhaSplitKvArgs args) {
  Kernel::Kargs k{};
  k.q_ptr = args.q;
  k.k_ptr = args.k;
  k.v_ptr = args.v;
  k.o_acc_ptr = args.o_parts;
  k.lse_acc_ptr = args.lse_parts;
  k.seqlen_q = 1;
  k.hdim_q = HEAD_DIM;
  k.hdim_v = HEAD_DIM;
  k.num_head_q = args.heads;
  k.nhead_ratio_qk = args.heads_per_kv;
  k.num_splits = args.splits;
  k.scale_s = args.scale * ck_tile::log2e_v<float>;
  k.stride_q = args.heads * HEAD_DIM; // of the one row of a sequence: not used
  k.stride_k = args.row_stride_k;
  k.stride_v = args.row_stride_v;
  k.stride_o_acc = HEAD_DIM;
  k.nhead_stride_q = args.head_stride_q;
  k.nhead_stride_k = args.head_stride_k;
  k.nhead_stride_v = args.head_stride_v;
  k.nhead_stride_lse_acc = args.splits;
  k.nhead_stride_o_acc = args.splits * HEAD_DIM;
  k.split_stride_lse_acc = 1;
  k.split_stride_o_acc = HEAD_DIM;
  k.block_table_ptr = args.block_table;
  k.batch_stride_block_table = args.block_table_stride;
  k.page_block_size = args.page_rows;
  k.seqlen_k_ptr = args.seqlens_k;
  k.batch_stride_q = args.batch_stride_q;
  k.batch_stride_k = args.page_stride_k;
  k.batch_stride_v = args.page_stride_v;
  k.batch_stride_lse_acc = args.heads * args.splits;
  k.batch_stride_o_acc = args.heads * args.splits * HEAD_DIM;
  Kernel{}(k);
}

KERNEL_GEOMETRY(ENTRY, threads, TILE_M, TILE_N, HEAD_DIM, sizeof(FmhaSplitKvArgs), lds_bytes, {});
