// The tiles that ck_tile's own generator takes for gfx12 (November 2025: 64 queries, 64 keys, four waves), for a comparison of what they cost.
// For head dims 32 and 64 the catalogue has the very same ones. Nothing of this is shipped.
#include "../native/fmha/fmha_fwd.h"

namespace fmha {

template <int head_dim>
using DefaultShape = ck_tile::TileFmhaShape<ck_tile::sequence<64, 64, 32, head_dim, 32, head_dim>, ck_tile::sequence<4, 1, 1>,
                                            ck_tile::sequence<16, 16, 16>, ck_tile::sequence<4, 1, 1>,
                                            ck_tile::sequence<16, 16, 16>, true>;

} // namespace fmha

#define DEFAULT_TILE(entry, element, head_dim)                                                                        \
  FMHA_KERNEL(entry, FmhaFwdArgs, fmha::forward, head_dim, 64, 64,                                                   \
              fmha::Forward<fmha::element, fmha::DefaultShape<head_dim>>)

DEFAULT_TILE(ck_tile_fwd_bf16_d128, bf16, 128);
DEFAULT_TILE(ck_tile_fwd_bf16_d256, bf16, 256);
