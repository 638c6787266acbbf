// ck_tile for RDNA3, RDNA3.5 and RDNA4: the one way in which this project includes Composable Kernel.
//
// Upstream stays as it is. What it lacks on these targets is declared here, before its headers are read.
#pragma once
#include "device_library.h"
#include <cstring>

// ck_tile knows an RDNA3.5 chip by a list of names that ends at gfx1152; gfx1153 has the same instructions.
#if defined(__gfx1153__)
#define __gfx11__
#endif

namespace ck_tile {

using ::memcpy;

// ck_tile turns the four words of a buffer descriptor into the compiler's descriptor type with an unqualified memcpy. LLVM does not promote
// such a copy to registers (the type is a non-integral pointer): 32 stack slots, 512 bytes of scratch at head dim 64. For exactly these two
// types this overload is the better match, and it builds the descriptor with the instruction that is meant for it.
inline __device__ void memcpy(__amdgpu_buffer_rsrc_t* descriptor,
                              const int __attribute__((ext_vector_type(4)))* words,
                              __SIZE_TYPE__) {
  const auto low = static_cast<unsigned>((*words)[0]);
  const auto high = static_cast<unsigned>((*words)[1]);
  // Word 1 holds bits 32..47 of the base and a stride of zero, so the pair is the address itself.
  void* base = reinterpret_cast<void*>(static_cast<unsigned long long>(high) << 32 | low);
  *descriptor = __builtin_amdgcn_make_buffer_rsrc(base, 0, (*words)[2], (*words)[3]);
}

} // namespace ck_tile

#include "ck_tile/core/numeric/bfloat16.hpp"

namespace ck_tile {

// Rounding to nearest, ties to even, without a look at NaN: upstream's mode 0 turns every NaN into one, for twice the instructions, and a bf16
// kernel spends 350 of the 880 instructions of its inner loop on that. Here a NaN stays one as well, if its low half is not all ones, and no
// hardware makes such a NaN. The mode's number is one that upstream does not use; CK_TILE_FLOAT_TO_BFLOAT16_DEFAULT selects it.
constexpr auto rounded_to_nearest = static_cast<bf16_rounding_mode>(5);

template <>
inline __host__ __device__ constexpr uint16_t float_to_bf16_raw<rounded_to_nearest>(float f, constant<rounded_to_nearest>) {
  const uint32_t bits = bit_cast<uint32_t>(f);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace ck_tile

#include "ck_tile/core.hpp"
#include "ck_tile/ops/epilogue.hpp"
#include "ck_tile/ops/fmha.hpp"
