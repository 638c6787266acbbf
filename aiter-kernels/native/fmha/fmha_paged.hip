// FMHA forward over a paged KV cache: queries of any length a sequence, keys and values by block table. One kernel an object.
//
// The build defines, from the catalogue: ENTRY, ELEMENT, HEAD_DIM, TILE_M, TILE_N, TILE_K0, TILE_K1, WARPS.
#include "../common/geometry.h"
#include "element.h"
#include "fmha_paged_args.h"
#include "operand_layout.h"

namespace {

using Element = element::ELEMENT;
using Warps = ck_tile::sequence<WARPS, 1, 1>;
using Wmma = ck_tile::sequence<16, 16, 16>;
using Shape = ck_tile::TileFmhaShape<ck_tile::sequence<TILE_M, TILE_N, TILE_K0, HEAD_DIM, TILE_K1, HEAD_DIM>,
                                     Warps, Wmma, Warps, Wmma, /* v is row major */ true>;
using Traits = ck_tile::TileFmhaFwdPagedKVTraits</* pad seqlen q, seqlen k */ true, true,
                                                 /* pad head dim q, v */ false, false, /* soft cap */ false,
                                                 ck_tile::BlockAttentionBiasEnum::NO_BIAS, /* bias grad */ false,
                                                 /* lse */ true, /* paged */ true, /* fp8 static quant */ false>;
using Mask = ck_tile::SimplifiedGenericAttentionMask<true>;
using Variant = ck_tile::ComposedAttention<0, CK_TILE_FMHA_FWD_FAST_EXP2>;
using Problem = ck_tile::BlockFmhaFwdPagedKVPipelineProblem<Element, Element, Element, float, float, Element, float, Element,
                                                            float, Element, Shape, /* varlen */ true, Variant, Mask,
                                                            Traits>;
using Policy = rdna::AttentionPolicy<ck_tile::BlockFmhaFwdPagedKVPipelineQRKSVSDefaultPolicy>;
using Pipeline = ck_tile::BlockFmhaFwdPagedKVPipelineQRKSVS<Problem, Policy>;
using Epilogue = ck_tile::Default2DEpilogue<ck_tile::Default2DEpilogueProblem<float, Element, true, false>>;
using Kernel = ck_tile::FmhaFwdPagedKVKernel<Pipeline, Epilogue>;

// In a host context, see fmha_fwd.hip.
constexpr unsigned threads = Kernel::kBlockSize;
constexpr unsigned lds_bytes = Kernel::GetSmemSize();

} // namespace

extern "C" __global__ __launch_bounds__(WARPS * 32) void ENTRY(FmhaPagedArgs args) {
  Kernel::Kargs k{};
  k.q_ptr = args.q;
  k.k_ptr = args.k;
  k.v_ptr = args.v;
  k.o_ptr = args.o;
  k.seqlen_q = -1; // from the offsets
  k.seqlen_k = -1;
  k.hdim_q = HEAD_DIM;
  k.hdim_v = HEAD_DIM;
  k.num_head_q = args.heads;
  k.nhead_ratio_qk = args.heads_per_kv;
  k.scale_s = args.scale * ck_tile::log2e_v<float>;
  k.stride_q = args.row_stride_q;
  k.stride_k = args.row_stride_k;
  k.stride_v = args.row_stride_v;
  k.stride_o = args.row_stride_o;
  k.nhead_stride_q = args.head_stride_q;
  k.nhead_stride_k = args.head_stride_k;
  k.nhead_stride_v = args.head_stride_v;
  k.nhead_stride_o = args.head_stride_o;
  k.window_size_left = args.window_left;
  k.window_size_right = args.window_right;
  k.mask_type = static_cast<ck_tile::GenericAttentionMaskEnum>(args.mask_origin);
  k.lse_ptr = args.lse;
  k.nhead_stride_lse = args.head_stride_lse;
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

KERNEL_GEOMETRY(ENTRY, threads, TILE_M, TILE_N, HEAD_DIM, sizeof(FmhaPagedArgs), lds_bytes, {});
