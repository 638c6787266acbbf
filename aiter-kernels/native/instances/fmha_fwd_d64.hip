// Made from src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` writes it anew.
#include "../fmha/fmha_fwd.h"

FMHA_FWD(fmha_fwd_bf16_d64_dense, bf16, false, false, 64, 64, 64, 32, 32, 4);
FMHA_FWD(fmha_fwd_bf16_d64_dense_masked, bf16, false, true, 64, 64, 64, 32, 32, 4);
FMHA_FWD(fmha_fwd_bf16_d64_varlen_masked, bf16, true, true, 64, 64, 64, 32, 32, 4);
FMHA_FWD(fmha_fwd_f16_d64_dense, f16, false, false, 64, 64, 64, 32, 32, 4);
FMHA_FWD(fmha_fwd_f16_d64_dense_masked, f16, false, true, 64, 64, 64, 32, 32, 4);
FMHA_FWD(fmha_fwd_f16_d64_varlen_masked, f16, true, true, 64, 64, 64, 32, 32, 4);
