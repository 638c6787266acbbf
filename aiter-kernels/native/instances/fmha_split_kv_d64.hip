// Made from src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` writes it anew.
#include "../fmha/fmha_split_kv.h"

FMHA_SPLIT_KV(fmha_split_kv_bf16_d64, bf16, 64, 16, 16, 32, 16, 1);
FMHA_SPLIT_KV(fmha_split_kv_f16_d64, f16, 64, 16, 16, 32, 16, 1);
