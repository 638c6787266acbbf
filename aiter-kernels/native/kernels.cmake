# Made from src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` rewrites it.

kernels(activation
  SOURCE activation/activation.hip
  OPERATIONS silu_and_mul gelu_and_mul gelu_tanh_and_mul
  FAMILIES gfx11 gfx12)

kernels(append_kv
  SOURCE position/append_kv.hip
  OPERATIONS append_kv
  FAMILIES gfx11 gfx12)

kernels(attention_d128
  SOURCE instances/attention_d128.hip
  OPERATIONS fmha_fwd fmha_paged fmha_split_kv
  FAMILIES gfx11 gfx12)

kernels(attention_d256
  SOURCE instances/attention_d256.hip
  OPERATIONS fmha_fwd fmha_paged fmha_split_kv
  FAMILIES gfx11 gfx12)

kernels(attention_d32
  SOURCE instances/attention_d32.hip
  OPERATIONS fmha_fwd fmha_paged fmha_split_kv
  FAMILIES gfx11 gfx12)

kernels(attention_d64
  SOURCE instances/attention_d64.hip
  OPERATIONS fmha_fwd fmha_paged fmha_split_kv
  FAMILIES gfx11 gfx12)

kernels(attention_d96
  SOURCE instances/attention_d96.hip
  OPERATIONS fmha_fwd fmha_paged fmha_split_kv
  FAMILIES gfx11 gfx12)

kernels(fmha_combine
  SOURCE combine/combine.hip
  OPERATIONS fmha_combine
  FAMILIES gfx11 gfx12)

kernels(norm
  SOURCE norm/norm.hip
  OPERATIONS rms_norm layer_norm softmax
  FAMILIES gfx11 gfx12)

kernels(quantise
  SOURCE quantise/quantise.hip
  OPERATIONS quantise_int8 quantise_e4m3
  FAMILIES gfx11 gfx12)

kernels(rope
  SOURCE position/rope.hip
  OPERATIONS rope
  FAMILIES gfx11 gfx12)
