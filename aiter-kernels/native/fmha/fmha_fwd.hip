// FMHA forward: o = softmax(scale q k^T) v with the logarithm of the softmax denominator, one kernel an object.
//
// The build defines, from the catalogue: ENTRY, ELEMENT (see element.h), HEAD_DIM, TILE_M, TILE_N, TILE_K0, TILE_K1, WARPS; VARLEN, MASKED.
#include "../common/geometry.h"
#include "element.h"
#include "fmha_fwd_args.h"
#include "operand_layout.h"

namespace {

using Element = element::ELEMENT;

using Warps = ck_tile::sequence<WARPS, 1, 1>;
using Wmma = ck_tile::sequence<16, 16, 16>;
using Shape = ck_tile::TileFmhaShape<ck_tile::sequence<TILE_M, TILE_N, TILE_K0, HEAD_DIM, TILE_K1, HEAD_DIM>,
                                     Warps, Wmma, Warps, Wmma, /* v is row major */ true>;
// Lengths may be anything; the head dim is exact, which makes every load of q, k and v 16 bytes wide.
using Traits = ck_tile::TileFmhaTraits</* pad seqlen q, seqlen k */ true, true, /* pad head dim q, v */ false, false,
                                       /* soft cap */ false, ck_tile::BlockAttentionBiasEnum::NO_BIAS,
                                       /* bias grad */ false, /* lse */ true, /* dropout */ false,
                                       /* fp8 static quant */ false>;
using Mask = ck_tile::SimplifiedGenericAttentionMask<MASKED != 0>;
using Variant = ck_tile::ComposedAttention<0, CK_TILE_FMHA_FWD_FAST_EXP2>;
using Problem = ck_tile::BlockFmhaPipelineProblem<Element, Element, Element, float, float, Element, unsigned char, float,
                                                  Element, float, Element, Shape, VARLEN != 0, Variant, Mask,
                                                  /* transposed loads */ false, Traits>;
using Pipeline =
    ck_tile::BlockFmhaPipelineQRKSVS<Problem, rdna::AttentionPolicy<ck_tile::BlockFmhaPipelineQRKSVSDefaultPolicy>>;
using Epilogue = ck_tile::Default2DEpilogue<ck_tile::Default2DEpilogueProblem<float, Element, true, false>>;
using Kernel = ck_tile::FmhaFwdKernel<Pipeline, Epilogue>;

// Evaluated here, in a host context: inside the initializer of a device variable it would break std::is_convertible for the rest of the file.
constexpr unsigned threads = Kernel::kBlockSize;
constexpr unsigned lds_bytes = Kernel::GetSmemSize();

} // namespace

extern "C" __global__ __launch_bounds__(WARPS * 32) void ENTRY(FmhaFwdArgs args) {
  Kernel::Kargs k{};
  k.q_ptr = args.q;
  k.k_ptr = args.k;
  k.v_ptr = args.v;
  k.o_ptr = args.o;
  k.seqlen_q = args.seqlen_q;
  k.seqlen_k = args.seqlen_k;
  k.hdim_q = HEAD_DIM;
  k.hdim_v = HEAD_DIM;
  k.num_head_q = args.heads;
  k.nhead_ratio_qk = args.heads_per_kv;
  k.scale_s = args.scale * ck_tile::log2e_v<float>; // the softmax is computed with exp2
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
#if MASKED
  k.window_size_left = args.window_left;
  k.window_size_right = args.window_right;
  k.mask_type = static_cast<ck_tile::GenericAttentionMaskEnum>(args.mask_origin);
#endif
#if VARLEN
  k.seqstart_q_ptr = args.cu_seqlens_q;
  k.seqstart_k_ptr = args.cu_seqlens_k;
#else
  k.batch_stride_q = args.batch_stride_q;
  k.batch_stride_k = args.batch_stride_k;
  k.batch_stride_v = args.batch_stride_v;
  k.batch_stride_o = args.batch_stride_o;
#endif
  Kernel{}(k);
}

KERNEL_GEOMETRY(ENTRY, threads, TILE_M, TILE_N, HEAD_DIM, sizeof(FmhaFwdArgs), lds_bytes, {});
