// Attention and activation kernels for AMD Radeon GPUs, and the same on the CPU. Written by cbindgen from src/c_abi; see docs/interfaces.md.

#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The version of this interface: it grows with every change that a program which was compiled before would not survive.
#define AITER_ABI_VERSION 2

// Everything was computed, or queued.
#define AITER_OK 0

// An argument does not fit; the message names it.
#define AITER_INVALID_ARGUMENT 1

// There is no such operation here, or no kernel for it on this GPU.
#define AITER_UNSUPPORTED 2

// The HIP runtime, the code objects or this library itself failed.
#define AITER_RUNTIME_ERROR 3

// bfloat16.
#define AITER_BF16 0

// IEEE half precision.
#define AITER_F16 1

// IEEE single precision.
#define AITER_F32 2

// 8-bit float of the OCP, 4 bits of exponent.
#define AITER_E4M3 3

// 8-bit integer.
#define AITER_I8 4

// 32-bit integer.
#define AITER_I32 5

// 64-bit integer.
#define AITER_I64 6

// Memory of the host; DLPack's number.
#define AITER_HOST 1

// Memory of an AMD GPU; DLPack's number.
#define AITER_ROCM 10

// The operations, and what was loaded for them. Calls may come from any thread.
typedef struct AiterKernels AiterKernels;

// A tensor. It is only looked at during a call; a GPU may use its memory until the stream has come so far.
typedef struct AiterTensor {
  // The first element.
  void *data;
  // Elements along each dimension.
  const int64_t *shape;
  // From one element of each dimension to the next, in elements; null: no gaps.
  const int64_t *strides;
  // Dimensions, 1 to 8.
  int32_t ndim;
  // `AITER_BF16`, ...
  int32_t element_type;
  // `AITER_HOST` or `AITER_ROCM`.
  int32_t device_type;
  // HIP's number of the GPU; 0 for the host.
  int32_t device_id;
} AiterTensor;

// Arguments of `aiter_attention`. Begin with `aiter_attention_defaults`. Dense without `cu_seqlens_q`; varlen with `cu_seqlens_q` and `cu_seqlens_k`;
// paged with `cu_seqlens_q`, `seqlens_k` and `block_table`.
typedef struct AiterAttention {
  // `[batch, seqlen_q, heads, head_dim]`; varlen and paged: `[total_q, heads, head_dim]`.
  const struct AiterTensor *q;
  // `[batch, seqlen_k, kv_heads, head_dim]`; varlen: `[total_k, kv_heads, head_dim]`; paged: `[pages, page_rows, kv_heads, head_dim]`.
  const struct AiterTensor *k;
  // As `k`.
  const struct AiterTensor *v;
  // As `q`.
  const struct AiterTensor *out;
  // f32 `[batch, heads, seqlen_q]`; varlen and paged: `[heads, total_q]`; null: none.
  const struct AiterTensor *lse;
  // i32 `[batch + 1]`, or null.
  const struct AiterTensor *cu_seqlens_q;
  // i32 `[batch + 1]`, or null.
  const struct AiterTensor *cu_seqlens_k;
  // i32 `[batch]`, or null.
  const struct AiterTensor *seqlens_k;
  // i32 `[batch, pages of a sequence]`, or null.
  const struct AiterTensor *block_table;
  // The longest sequence's queries; not read when dense.
  int64_t max_seqlen_q;
  // The longest sequence's keys; not read when dense.
  int64_t max_seqlen_k;
  // Sequences of as many queries or fewer are left out: their rows of `out` and `lse` stay as they are. Not read when dense.
  int64_t min_seqlen_q;
  // Factor of the scores; NaN, the default: `1 / sqrt(head_dim)`.
  float softmax_scale;
  // Bound of the scores; 0: none.
  float logits_soft_cap;
  // Must be 0.
  float dropout_p;
  // Factor of q when it is e4m3.
  float q_descale;
  // Factor of k when it is e4m3.
  float k_descale;
  // Factor of v when it is e4m3.
  float v_descale;
  // Keys before the diagonal that a query sees; -1: all.
  int32_t window_left;
  // Keys after the diagonal that a query sees; -1: all.
  int32_t window_right;
  // No key after the diagonal.
  bool causal;
  // The diagonal starts at the top left; else, as upstream's, at the bottom right.
  bool top_left;
} AiterAttention;

// Arguments of `aiter_append_kv`.
typedef struct AiterAppendKv {
  // `[batch, capacity, kv_heads, head_dim]`; with a block table `[pages, page_rows, kv_heads, head_dim]`. Written.
  const struct AiterTensor *k_cache;
  // As `k_cache`. Written.
  const struct AiterTensor *v_cache;
  // `[batch, new rows, kv_heads, head_dim]`.
  const struct AiterTensor *k;
  // As `k`.
  const struct AiterTensor *v;
  // i32 `[batch]`.
  const struct AiterTensor *cache_seqlens;
  // i32 `[batch, pages of a sequence]`; null: the cache is dense.
  const struct AiterTensor *block_table;
  // `[positions, rotary_dim / 2]`; null: the keys are not rotated.
  const struct AiterTensor *cos;
  // As `cos`.
  const struct AiterTensor *sin;
  // 0: NEOX, 1: GPT-J (interleaved).
  int32_t rotate_style;
  // The elements that are not rotated come first in a head.
  bool nope_first;
} AiterAppendKv;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Arguments with no tensors, the default scale, no mask.
struct AiterAttention aiter_attention_defaults(void);

// Attention forward. `stream` is a `hipStream_t`; null: the default one. Not read when the tensors are on the host.
//
// # Safety
// `kernels` came from `aiter_open`; `arguments` points to arguments whose tensors hold what their shapes promise.
int32_t aiter_attention(const struct AiterKernels *kernels,
                        const struct AiterAttention *arguments,
                        void *stream);

// What `aiter_attention` refuses, without computing or launching anything; on the host block tables are not looked at.
//
// # Safety
// As `aiter_attention`.
int32_t aiter_check_attention(const struct AiterKernels *kernels,
                              const struct AiterAttention *arguments);

// Rotates the heads of `input`, `[s, b, heads, head_dim]`, by `positions`, `[s, b]`; null: each row's number along s. `out` may be `input`.
// `rotate_style` 0: NEOX, 1: GPT-J (interleaved).
//
// # Safety
// As `aiter_attention`.
int32_t aiter_rope(const struct AiterKernels *kernels,
                   const struct AiterTensor *out,
                   const struct AiterTensor *input,
                   const struct AiterTensor *cos,
                   const struct AiterTensor *sin,
                   const struct AiterTensor *positions,
                   int32_t rotate_style,
                   bool nope_first,
                   void *stream);

// Writes new keys and values behind those that a cache holds.
//
// # Safety
// As `aiter_attention`.
int32_t aiter_append_kv(const struct AiterKernels *kernels,
                        const struct AiterAppendKv *arguments,
                        void *stream);

// `AITER_ABI_VERSION` of the library, to be compared with that of the header.
int32_t aiter_abi_version(void);

// The version of the library.
const char *aiter_version(void);

// Opens the kernels. `folder` holds `<target>/aiter-kernels/*.co` (a release has it as `kernels`); null: the CPU alone. Nothing is loaded before a
// call has tensors of a GPU. Never null; close it with `aiter_close`.
//
// # Safety
// `folder` is null or a string in UTF-8 that ends with NUL.
struct AiterKernels *aiter_open(const char *folder);

// Closes kernels; null is nothing. Work that is queued must have ended.
//
// # Safety
// `kernels` is null or came from `aiter_open` and is closed once.
void aiter_close(struct AiterKernels *kernels);

// `out = silu(input[..., :width]) * input[..., width:]`.
//
// # Safety
// As `aiter_attention`.
int32_t aiter_silu_and_mul(const struct AiterKernels *kernels,
                           const struct AiterTensor *out,
                           const struct AiterTensor *input,
                           void *stream);

// The same with gelu, by the error function.
//
// # Safety
// As `aiter_attention`.
int32_t aiter_gelu_and_mul(const struct AiterKernels *kernels,
                           const struct AiterTensor *out,
                           const struct AiterTensor *input,
                           void *stream);

// The same with gelu, by tanh.
//
// # Safety
// As `aiter_attention`.
int32_t aiter_gelu_tanh_and_mul(const struct AiterKernels *kernels,
                                const struct AiterTensor *out,
                                const struct AiterTensor *input,
                                void *stream);

// `out = rms_norm(input + residual_in) * weight`; `residual_out` becomes `input + residual_in` and may be either. Both are null, or neither;
// `weight` may be null.
//
// # Safety
// As `aiter_attention`.
int32_t aiter_rms_norm(const struct AiterKernels *kernels,
                       const struct AiterTensor *out,
                       const struct AiterTensor *input,
                       const struct AiterTensor *residual_in,
                       const struct AiterTensor *residual_out,
                       const struct AiterTensor *weight,
                       float epsilon,
                       void *stream);

// `out = layer_norm(input + residual_in) * weight + bias`; `residual_out` as in `aiter_rms_norm`. `weight` and `bias` may be null.
//
// # Safety
// As `aiter_attention`.
int32_t aiter_layer_norm(const struct AiterKernels *kernels,
                         const struct AiterTensor *out,
                         const struct AiterTensor *input,
                         const struct AiterTensor *residual_in,
                         const struct AiterTensor *residual_out,
                         const struct AiterTensor *weight,
                         const struct AiterTensor *bias,
                         float epsilon,
                         void *stream);

// The softmax of each row.
//
// # Safety
// As `aiter_attention`.
int32_t aiter_softmax(const struct AiterKernels *kernels,
                      const struct AiterTensor *out,
                      const struct AiterTensor *input,
                      void *stream);

// Quantises each row of `input` to the type of `out`, i8 or e4m3, over a scale of its own.
//
// # Safety
// As `aiter_attention`.
int32_t aiter_dynamic_per_token_scaled_quant(const struct AiterKernels *kernels,
                                             const struct AiterTensor *out,
                                             const struct AiterTensor *input,
                                             const struct AiterTensor *scales,
                                             void *stream);

// The message of this thread's last call that failed; it lives until the next one that fails. Empty before the first.
const char *aiter_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
