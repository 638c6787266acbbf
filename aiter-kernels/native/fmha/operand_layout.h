// The hand-over from the first matrix product of attention to the second: P = softmax(Q K^T) leaves WMMA in the layout of an accumulator and
// enters it again as an operand.
//
//   gfx12  the two layouts are one; nothing to do
//   gfx11  the accumulator spreads a row over both half-waves: register r of lane l holds column 2 r + l / 16 of row l % 16.
//          The operand wants all 16 columns of the row in both half-waves.
//
// ck_tile (November 2025) knows gfx12's case only and does not compile on gfx11. The seam is the pipeline's policy: it makes the block GEMM,
// so a policy of ours can hand out a block GEMM that brings its first operand into shape before it calls upstream's.
#pragma once
#include "ck_tile.h"

namespace rdna {

// One dword of the accumulator layout (registers r and r + 1 as 16-bit values) becomes two dwords of the operand layout:
// columns (2 r, 2 r + 1) and (2 r + 2, 2 r + 3).
struct ColumnPairs {
  unsigned even;
  unsigned odd;
};

#if defined(__gfx11__)
// v_perm_b32 selectors over {other half-wave, own}: bytes 0..3 are the own dword, 4..7 the other half-wave's.
// The lower half-wave holds the even column of each pair, the upper one the odd column.
inline __device__ ColumnPairs exchange_half_waves(unsigned own) {
  const unsigned other = __builtin_amdgcn_permlanex16(own, own, 0x76543210, 0xfedcba98, false, false);
  const bool upper = __builtin_amdgcn_mbcnt_lo(~0u, 0u) >= 16;
  return {__builtin_amdgcn_perm(other, own, upper ? 0x01000504u : 0x05040100u),
          __builtin_amdgcn_perm(other, own, upper ? 0x03020706u : 0x07060302u)};
}
#endif

// A block GEMM of upstream's whose A operand may come in the layout of an accumulator.
template <typename BlockGemm>
struct AccumulatorFedGemm : BlockGemm {
  template <typename C, typename A, typename B>
  __device__ void operator()(C& c, const A& a, const B& b) const {
#if defined(__gfx11__)
    using Element = typename A::DataType;
    static_assert(sizeof(Element) == 2, "the exchange moves pairs of 16-bit elements");
    auto operand = ck_tile::make_static_distributed_tensor<Element>(BlockGemm::MakeABlockTileDistribution());
    constexpr int dwords = A::get_thread_buffer_size() / 2;
    static_assert(decltype(operand)::get_thread_buffer_size() == 4 * dwords, "the operand holds each row twice");

    const auto& accumulator = a.get_thread_buffer().template get_as<unsigned>();
    auto& row = operand.get_thread_buffer().template get_as<unsigned>();
    ck_tile::static_for<0, dwords, 1>{}([&](auto i) {
      const ColumnPairs pairs = exchange_half_waves(accumulator[i]);
      row(ck_tile::number<2 * i>{}) = pairs.even;
      row(ck_tile::number<2 * i + 1>{}) = pairs.odd;
    });
    BlockGemm::operator()(c, operand, b);
#else
    BlockGemm::operator()(c, a, b);
#endif
  }
};

// An upstream pipeline policy with the second product fed from the accumulator of the first.
template <typename Policy>
struct AttentionPolicy : Policy {
  template <typename Problem>
  __device__ static constexpr auto GetKVBlockGemm() {
    return AccumulatorFedGemm<ck_tile::remove_cvref_t<decltype(Policy::template GetKVBlockGemm<Problem>())>>{};
  }
};

} // namespace rdna
