// Made from src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` rewrites it.
#include "../fmha/fmha_fwd.h"
#include "../fmha/fmha_paged.h"
#include "../fmha/fmha_split_kv.h"

FMHA_FWD(fmha_fwd_bf16_d128, bf16, 128, 128, 32, 32, fmha::of_family(16, 32), 8);
FMHA_FWD(fmha_fwd_f16_d128, f16, 128, 128, 32, 32, fmha::of_family(16, 32), 8);
FMHA_PAGED(fmha_paged_bf16_d128_n16, bf16, 128, 64, 16, 32, 16, 4);
FMHA_PAGED(fmha_paged_bf16_d128_n32, bf16, 128, 128, 32, 32, 32, 8);
FMHA_PAGED(fmha_paged_f16_d128_n16, f16, 128, 64, 16, 32, 16, 4);
FMHA_PAGED(fmha_paged_f16_d128_n32, f16, 128, 128, 32, 32, 32, 8);
FMHA_SPLIT_KV(fmha_split_kv_bf16_d128, bf16, 128, 16, 16, 32, 16, 1);
FMHA_SPLIT_KV(fmha_split_kv_f16_d128, f16, 128, 16, 16, 32, 16, 1);
#if defined(__GFX12__)
FMHA_FWD(fmha_fwd_e4m3_d128, e4m3, 128, 64, 64, 32, 32, 4);
#endif
