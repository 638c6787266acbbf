// Made from src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` rewrites it.
#include "../fmha/fmha_fwd.h"
#include "../fmha/fmha_paged.h"
#include "../fmha/fmha_split_kv.h"

FMHA_FWD(fmha_fwd_bf16_d64, bf16, 64, 64, 64, 32, 32, 4);
FMHA_FWD(fmha_fwd_f16_d64, f16, 64, 64, 64, 32, 32, 4);
FMHA_PAGED(fmha_paged_bf16_d64_n16, bf16, 64, 64, 16, 32, 16, 4);
FMHA_PAGED(fmha_paged_bf16_d64_n32, bf16, 64, 64, 32, 32, 32, 4);
FMHA_PAGED(fmha_paged_f16_d64_n16, f16, 64, 64, 16, 32, 16, 4);
FMHA_PAGED(fmha_paged_f16_d64_n32, f16, 64, 64, 32, 32, 32, 4);
FMHA_SPLIT_KV(fmha_split_kv_bf16_d64, bf16, 64, 16, 16, 32, 16, 1);
FMHA_SPLIT_KV(fmha_split_kv_f16_d64, f16, 64, 16, 16, 32, 16, 1);
#if defined(__GFX12__)
FMHA_FWD(fmha_fwd_e4m3_d64, e4m3, 64, 64, 64, 32, 32, 4);
#endif
