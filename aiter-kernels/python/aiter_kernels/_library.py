"""The shared library: where it is, what its header declares, and one call."""
import ctypes
import os
import sys
from pathlib import Path

from ._errors import InvalidArgument, RuntimeFailure, Unsupported

_HERE = Path(__file__).resolve().parent
# In a wheel the library lies in the package; in an unpacked release two folders up.
_PLACES = (_HERE, _HERE.parent.parent)


# AITER_ABI_VERSION of the header that this file mirrors.
_ABI = 2


class Tensor(ctypes.Structure):
    """AiterTensor."""
    _fields_ = [('data', ctypes.c_void_p), ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)),
                ('ndim', ctypes.c_int32), ('element_type', ctypes.c_int32), ('device_type', ctypes.c_int32),
                ('device_id', ctypes.c_int32)]


_TENSOR = ctypes.POINTER(Tensor)


class Attention(ctypes.Structure):
    """AiterAttention."""
    _fields_ = [(name, _TENSOR) for name in ('q', 'k', 'v', 'out', 'lse', 'cu_seqlens_q', 'cu_seqlens_k', 'seqlens_k', 'block_table')]
    _fields_ += [(name, ctypes.c_int64) for name in ('max_seqlen_q', 'max_seqlen_k', 'min_seqlen_q')]
    _fields_ += [(name, ctypes.c_float) for name in ('softmax_scale', 'logits_soft_cap', 'dropout_p', 'q_descale', 'k_descale', 'v_descale')]
    _fields_ += [(name, ctypes.c_int32) for name in ('window_left', 'window_right')]
    _fields_ += [(name, ctypes.c_bool) for name in ('causal', 'top_left')]


class AppendKv(ctypes.Structure):
    """AiterAppendKv."""
    _fields_ = [(name, _TENSOR) for name in ('k_cache', 'v_cache', 'k', 'v', 'cache_seqlens', 'block_table', 'cos', 'sin')]
    _fields_ += [('rotate_style', ctypes.c_int32), ('nope_first', ctypes.c_bool)]


def _find():
    name = 'aiter_kernels.dll' if sys.platform == 'win32' else 'libaiter_kernels.so'
    given = os.environ.get('AITER_KERNELS_LIBRARY')
    paths = [Path(given)] if given else [place / name for place in _PLACES]
    for path in paths:
        if path.is_file():
            return path
    raise ImportError(f'{name} is not in {" nor in ".join(str(path.parent) for path in paths)}')


def _load():
    path = _find()
    library = ctypes.CDLL(str(path))
    found = library.aiter_abi_version() if hasattr(library, 'aiter_abi_version') else 1
    if found != _ABI:
        raise ImportError(f'{path}: its interface has the version {found}, this package is for {_ABI}; take both from one release')
    pointer, string, number, flag = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_float, ctypes.c_bool
    for name, result, arguments in (
            ('aiter_version', string, []),
            ('aiter_last_error', string, []),
            ('aiter_open', pointer, [string]),
            ('aiter_attention_defaults', Attention, []),
            ('aiter_attention', ctypes.c_int32, [pointer, ctypes.POINTER(Attention), pointer]),
            ('aiter_check_attention', ctypes.c_int32, [pointer, ctypes.POINTER(Attention)]),
            ('aiter_silu_and_mul', ctypes.c_int32, [pointer, _TENSOR, _TENSOR, pointer]),
            ('aiter_gelu_and_mul', ctypes.c_int32, [pointer, _TENSOR, _TENSOR, pointer]),
            ('aiter_gelu_tanh_and_mul', ctypes.c_int32, [pointer, _TENSOR, _TENSOR, pointer]),
            ('aiter_rms_norm', ctypes.c_int32, [pointer, *[_TENSOR] * 5, number, pointer]),
            ('aiter_layer_norm', ctypes.c_int32, [pointer, *[_TENSOR] * 6, number, pointer]),
            ('aiter_softmax', ctypes.c_int32, [pointer, _TENSOR, _TENSOR, pointer]),
            ('aiter_rope', ctypes.c_int32, [pointer, _TENSOR, _TENSOR, _TENSOR, _TENSOR, _TENSOR, ctypes.c_int32, flag, pointer]),
            ('aiter_dynamic_per_token_scaled_quant', ctypes.c_int32, [pointer, _TENSOR, _TENSOR, _TENSOR, pointer]),
            ('aiter_append_kv', ctypes.c_int32, [pointer, ctypes.POINTER(AppendKv), pointer])):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _kernels_folder():
    """Where the code objects are; None: nowhere, and there is the CPU alone."""
    given = os.environ.get('AITER_KERNELS')
    if given and not os.path.isdir(given):
        raise ImportError(f'AITER_KERNELS: there is no folder {given}')
    places = [given] if given else [str(place / 'kernels') for place in _PLACES]
    found = next((place for place in places if os.path.isdir(place)), None)
    return os.fsencode(found) if found else None


_LIBRARY = _load()
_KERNELS = _LIBRARY.aiter_open(_kernels_folder())
_EXCEPTIONS = {1: InvalidArgument, 2: Unsupported, 3: RuntimeFailure}


def version():
    return _LIBRARY.aiter_version().decode()


def attention_defaults():
    return _LIBRARY.aiter_attention_defaults()


def call(function, *arguments, stream=None):
    """Calls aiter_<function>, which queues work; raises what its status says."""
    check(function, *arguments, stream)


def check(function, *arguments):
    """Calls aiter_<function>, which has no stream."""
    status = getattr(_LIBRARY, f'aiter_{function}')(_KERNELS, *arguments)
    if status != 0:
        raise _EXCEPTIONS.get(status, RuntimeFailure)(_LIBRARY.aiter_last_error().decode())
