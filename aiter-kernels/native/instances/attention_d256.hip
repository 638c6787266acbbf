// Made from src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` rewrites it.
#include "../fmha/fmha_fwd.h"
#include "../fmha/fmha_paged.h"
#include "../fmha/fmha_split_kv.h"

FMHA_FWD(fmha_fwd_bf16_d256, bf16, 256, 64, 16, 32, 16, 4);
FMHA_FWD(fmha_fwd_f16_d256, f16, 256, 64, 16, 32, 16, 4);
FMHA_PAGED(fmha_paged_bf16_d256_n16, bf16, 256, 64, 16, 32, 16, 4);
FMHA_PAGED(fmha_paged_f16_d256_n16, f16, 256, 64, 16, 32, 16, 4);
FMHA_SPLIT_KV(fmha_split_kv_bf16_d256, bf16, 256, 16, 16, 32, 16, 1);
FMHA_SPLIT_KV(fmha_split_kv_f16_d256, f16, 256, 16, 16, 32, 16, 1);
#if defined(__GFX12__)
FMHA_FWD(fmha_fwd_e4m3_d256, e4m3, 256, 64, 32, 32, 32, 4);
#endif
