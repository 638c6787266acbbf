// Made from src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` writes it anew.
#include "../fmha/fmha_paged.h"

FMHA_PAGED(fmha_paged_bf16_d64_n16, bf16, 64, 64, 16, 32, 16, 4);
FMHA_PAGED(fmha_paged_bf16_d64_n32, bf16, 64, 64, 32, 32, 32, 4);
FMHA_PAGED(fmha_paged_f16_d64_n16, f16, 64, 64, 16, 32, 16, 4);
FMHA_PAGED(fmha_paged_f16_d64_n32, f16, 64, 64, 32, 32, 32, 4);
