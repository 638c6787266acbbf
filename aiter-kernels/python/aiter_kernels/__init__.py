"""Attention and activation kernels for AMD Radeon GPUs, and the same on the CPU.

Functions carry the names and argument meanings of Aiter. They take anything that speaks DLPack: tensors of torch on a GPU or on the host, arrays of
numpy (also with the types of ml_dtypes). What they return is of the same kind as their first argument.

A call whose tensors are on the host is computed by the CPU at once; one whose tensors are on a GPU is queued on torch's current stream. What does not
fit raises InvalidArgument, which names the argument; what is not there (dropout, ALiBi, fp8 on gfx11, ...) raises Unsupported. Nothing is launched then.
"""
from ._errors import InvalidArgument, KernelError, RuntimeFailure, Unsupported
from ._library import version as _version
from .activation import gelu_and_mul, gelu_tanh_and_mul, silu_and_mul
from .attention import (flash_attn_fp8_pertensor_func, flash_attn_func, flash_attn_varlen_func, flash_attn_with_kvcache,
                        mha_batch_prefill_func)
from .norm import (layer_norm, layernorm2d_fwd, layernorm2d_fwd_with_add, rms_norm, rmsnorm2d_fwd, rmsnorm2d_fwd_with_add,
                   softmax)
from .quant import dynamic_per_token_scaled_quant, pertoken_quant
from .rope import (rope_cached_fwd, rope_cached_fwd_inplace, rope_cached_positions_2c_fwd_inplace, rope_cached_positions_fwd,
                   rope_cached_positions_fwd_inplace)

__version__ = _version()
__all__ = [
    'InvalidArgument', 'KernelError', 'RuntimeFailure', 'Unsupported', 'dynamic_per_token_scaled_quant',
    'flash_attn_fp8_pertensor_func', 'flash_attn_func', 'flash_attn_varlen_func', 'flash_attn_with_kvcache', 'gelu_and_mul',
    'gelu_tanh_and_mul', 'layer_norm', 'layernorm2d_fwd', 'layernorm2d_fwd_with_add', 'mha_batch_prefill_func',
    'pertoken_quant', 'rms_norm', 'rmsnorm2d_fwd', 'rmsnorm2d_fwd_with_add', 'rope_cached_fwd', 'rope_cached_fwd_inplace',
    'rope_cached_positions_2c_fwd_inplace', 'rope_cached_positions_fwd', 'rope_cached_positions_fwd_inplace', 'silu_and_mul',
    'softmax',
]
