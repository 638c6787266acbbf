# Made from src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` writes it anew.

kernels(activation
  SOURCE activation/activation.hip
  OPERATIONS silu_and_mul gelu_and_mul gelu_tanh_and_mul
  FAMILIES gfx11 gfx12)

kernels(fmha_combine
  SOURCE combine/combine.hip
  OPERATIONS fmha_combine
  FAMILIES gfx11 gfx12)

kernels(fmha_fwd_bf16_d128_dense
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_bf16_d128_dense ELEMENT=bf16 HEAD_DIM=128 TILE_M=64 TILE_N=32 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=0 MASKED=0)

kernels(fmha_fwd_bf16_d128_dense_masked
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_bf16_d128_dense_masked ELEMENT=bf16 HEAD_DIM=128 TILE_M=64 TILE_N=32 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=0 MASKED=1)

kernels(fmha_fwd_bf16_d128_varlen_masked
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_bf16_d128_varlen_masked ELEMENT=bf16 HEAD_DIM=128 TILE_M=64 TILE_N=32 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=1 MASKED=1)

kernels(fmha_fwd_bf16_d64_dense
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_bf16_d64_dense ELEMENT=bf16 HEAD_DIM=64 TILE_M=64 TILE_N=64 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=0 MASKED=0)

kernels(fmha_fwd_bf16_d64_dense_masked
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_bf16_d64_dense_masked ELEMENT=bf16 HEAD_DIM=64 TILE_M=64 TILE_N=64 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=0 MASKED=1)

kernels(fmha_fwd_bf16_d64_varlen_masked
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_bf16_d64_varlen_masked ELEMENT=bf16 HEAD_DIM=64 TILE_M=64 TILE_N=64 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=1 MASKED=1)

kernels(fmha_fwd_f16_d128_dense
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_f16_d128_dense ELEMENT=f16 HEAD_DIM=128 TILE_M=64 TILE_N=32 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=0 MASKED=0)

kernels(fmha_fwd_f16_d128_dense_masked
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_f16_d128_dense_masked ELEMENT=f16 HEAD_DIM=128 TILE_M=64 TILE_N=32 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=0 MASKED=1)

kernels(fmha_fwd_f16_d128_varlen_masked
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_f16_d128_varlen_masked ELEMENT=f16 HEAD_DIM=128 TILE_M=64 TILE_N=32 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=1 MASKED=1)

kernels(fmha_fwd_f16_d64_dense
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_f16_d64_dense ELEMENT=f16 HEAD_DIM=64 TILE_M=64 TILE_N=64 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=0 MASKED=0)

kernels(fmha_fwd_f16_d64_dense_masked
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_f16_d64_dense_masked ELEMENT=f16 HEAD_DIM=64 TILE_M=64 TILE_N=64 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=0 MASKED=1)

kernels(fmha_fwd_f16_d64_varlen_masked
  SOURCE fmha/fmha_fwd.hip
  OPERATIONS fmha_fwd
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_fwd_f16_d64_varlen_masked ELEMENT=f16 HEAD_DIM=64 TILE_M=64 TILE_N=64 TILE_K0=32 TILE_K1=32 WARPS=4 VARLEN=1 MASKED=1)

kernels(fmha_paged_bf16_d128_n16
  SOURCE fmha/fmha_paged.hip
  OPERATIONS fmha_paged
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_paged_bf16_d128_n16 ELEMENT=bf16 HEAD_DIM=128 TILE_M=64 TILE_N=16 TILE_K0=32 TILE_K1=16 WARPS=4)

kernels(fmha_paged_bf16_d128_n32
  SOURCE fmha/fmha_paged.hip
  OPERATIONS fmha_paged
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_paged_bf16_d128_n32 ELEMENT=bf16 HEAD_DIM=128 TILE_M=64 TILE_N=32 TILE_K0=32 TILE_K1=32 WARPS=4)

kernels(fmha_paged_bf16_d64_n16
  SOURCE fmha/fmha_paged.hip
  OPERATIONS fmha_paged
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_paged_bf16_d64_n16 ELEMENT=bf16 HEAD_DIM=64 TILE_M=64 TILE_N=16 TILE_K0=32 TILE_K1=16 WARPS=4)

kernels(fmha_paged_bf16_d64_n32
  SOURCE fmha/fmha_paged.hip
  OPERATIONS fmha_paged
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_paged_bf16_d64_n32 ELEMENT=bf16 HEAD_DIM=64 TILE_M=64 TILE_N=32 TILE_K0=32 TILE_K1=32 WARPS=4)

kernels(fmha_paged_f16_d128_n16
  SOURCE fmha/fmha_paged.hip
  OPERATIONS fmha_paged
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_paged_f16_d128_n16 ELEMENT=f16 HEAD_DIM=128 TILE_M=64 TILE_N=16 TILE_K0=32 TILE_K1=16 WARPS=4)

kernels(fmha_paged_f16_d128_n32
  SOURCE fmha/fmha_paged.hip
  OPERATIONS fmha_paged
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_paged_f16_d128_n32 ELEMENT=f16 HEAD_DIM=128 TILE_M=64 TILE_N=32 TILE_K0=32 TILE_K1=32 WARPS=4)

kernels(fmha_paged_f16_d64_n16
  SOURCE fmha/fmha_paged.hip
  OPERATIONS fmha_paged
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_paged_f16_d64_n16 ELEMENT=f16 HEAD_DIM=64 TILE_M=64 TILE_N=16 TILE_K0=32 TILE_K1=16 WARPS=4)

kernels(fmha_paged_f16_d64_n32
  SOURCE fmha/fmha_paged.hip
  OPERATIONS fmha_paged
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_paged_f16_d64_n32 ELEMENT=f16 HEAD_DIM=64 TILE_M=64 TILE_N=32 TILE_K0=32 TILE_K1=32 WARPS=4)

kernels(fmha_split_kv_bf16_d128
  SOURCE fmha/fmha_split_kv.hip
  OPERATIONS fmha_split_kv
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_split_kv_bf16_d128 ELEMENT=bf16 HEAD_DIM=128 TILE_M=16 TILE_N=16 TILE_K0=32 TILE_K1=16 WARPS=1)

kernels(fmha_split_kv_bf16_d64
  SOURCE fmha/fmha_split_kv.hip
  OPERATIONS fmha_split_kv
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_split_kv_bf16_d64 ELEMENT=bf16 HEAD_DIM=64 TILE_M=16 TILE_N=16 TILE_K0=32 TILE_K1=16 WARPS=1)

kernels(fmha_split_kv_f16_d128
  SOURCE fmha/fmha_split_kv.hip
  OPERATIONS fmha_split_kv
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_split_kv_f16_d128 ELEMENT=f16 HEAD_DIM=128 TILE_M=16 TILE_N=16 TILE_K0=32 TILE_K1=16 WARPS=1)

kernels(fmha_split_kv_f16_d64
  SOURCE fmha/fmha_split_kv.hip
  OPERATIONS fmha_split_kv
  FAMILIES gfx11 gfx12
  DEFINITIONS ENTRY=fmha_split_kv_f16_d64 ELEMENT=f16 HEAD_DIM=64 TILE_M=16 TILE_N=16 TILE_K0=32 TILE_K1=16 WARPS=1)

kernels(norm
  SOURCE norm/norm.hip
  OPERATIONS rms_norm layer_norm softmax
  FAMILIES gfx11 gfx12)
