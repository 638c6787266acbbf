"""Tensors of others, read through DLPack (the C structures of dlpack.h, v0 and v1)."""
import ctypes
import sys

from ._errors import InvalidArgument, Unsupported
from ._library import Tensor

HOST, ROCM = 1, 10
_ROCM_HOST = 11  # pinned memory: the CPU reads it like any other
_V1 = 'dltensor_versioned'
# (code, bits) of a DLDataType to the numbers of aiter_kernels.h. 10 is float8_e4m3fn (DLPack 1.1).
_TYPES = {(4, 16): 0, (2, 16): 1, (2, 32): 2, (10, 8): 3, (0, 8): 4, (0, 32): 5, (0, 64): 6}
# What numpy's DLPack refuses: types that ml_dtypes brings, by name, with the integers of the same size.
_FOREIGN = {'bfloat16': (0, 'uint16'), 'float8_e4m3fn': (3, 'uint8')}


class _DLTensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32), ('ndim', ctypes.c_int32),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)), ('byte_offset', ctypes.c_uint64)]


class _Versioned(ctypes.Structure):
    _fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32), ('context', ctypes.c_void_p), ('deleter', ctypes.c_void_p),
                ('flags', ctypes.c_uint64), ('tensor', _DLTensor)]


_READ_ONLY = 1
_python = ctypes.pythonapi
_python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p


def expect(**tensors):
    """Refuses what is no tensor, for those who look at shapes before a View is made."""
    for name, value in tensors.items():
        if not all(hasattr(value, part) for part in ('__dlpack__', '__dlpack_device__', 'shape', 'dtype')):
            raise InvalidArgument(f'{name}: expected a tensor with __dlpack__, found {type(value).__name__}')


def _capsule(name, value):
    if not hasattr(value, '__dlpack__') or not hasattr(value, '__dlpack_device__'):
        raise InvalidArgument(f'{name}: expected a tensor with __dlpack__, found {type(value).__name__}')
    try:
        device_type, _ = value.__dlpack_device__()
        # -1: the producer need not wait; the kernel is queued on the stream that the tensor's own work is on.
        options = {'stream': -1} if device_type == ROCM else {}
        try:
            return value.__dlpack__(max_version=(1, 1), **options)
        except TypeError:  # a producer that knows no versions
            return value.__dlpack__(**options)
    except (AttributeError, BufferError, RuntimeError, TypeError) as error:
        raise InvalidArgument(f'{name}: {error}') from error


def _refuse_gradients(name, value):
    """What is computed here is no part of a graph of torch's: its gradient would be missing, without a word."""
    torch = sys.modules.get('torch')
    if getattr(value, 'requires_grad', False) and (torch is None or torch.is_grad_enabled()):
        raise Unsupported(f'{name}: requires a gradient, and there is no backward here; call under torch.no_grad(), or detach it')


def _as_integers(value):
    """A tensor whose type DLPack does not carry, seen as integers of its size, and the number of its type; else itself and None."""
    dtype = getattr(value, 'dtype', None)
    if hasattr(value, '__array_interface__') and getattr(dtype, 'name', None) in _FOREIGN:
        code, integer = _FOREIGN[dtype.name]
        return value.view(integer), code
    if str(dtype) == 'torch.float8_e4m3fn':
        import torch
        return value.view(torch.uint8), _FOREIGN['float8_e4m3fn'][0]
    return value, None


class View:
    """A tensor as the library takes it. The capsule is kept unconsumed: it frees itself, and the tensor lives until then."""

    def __init__(self, name, value, writable=False):
        _refuse_gradients(name, value)
        value, foreign = _as_integers(value.detach() if hasattr(value, 'detach') else value)
        self.capsule = _capsule(name, value)
        if _python.PyCapsule_IsValid(self.capsule, _V1.encode()):
            managed = ctypes.cast(_python.PyCapsule_GetPointer(self.capsule, _V1.encode()), ctypes.POINTER(_Versioned)).contents
            if writable and managed.flags & _READ_ONLY:
                raise InvalidArgument(f'{name}: is read-only')
            raw = managed.tensor
        else:
            raw = ctypes.cast(_python.PyCapsule_GetPointer(self.capsule, b'dltensor'), ctypes.POINTER(_DLTensor)).contents
        self.shape = tuple(raw.shape[i] for i in range(raw.ndim))
        self.code = _TYPES.get((raw.code, raw.bits)) if foreign is None else foreign
        if self.code is None or (raw.lanes != 1 and raw.lanes != 0):
            raise InvalidArgument(f'{name}: its element type is none that kernels know: {getattr(value, "dtype", "?")}')
        self.is_gpu = raw.device_type == ROCM
        strides = raw.strides if raw.strides and raw.ndim else None
        data = (raw.data or 0) + raw.byte_offset
        device = HOST if raw.device_type == _ROCM_HOST else raw.device_type
        self.tensor = Tensor(data, raw.shape, strides, raw.ndim, self.code, device, 0 if device == HOST else raw.device_id)

    def pointer(self):
        return ctypes.byref(self.tensor)


def views(**tensors):
    """name=(tensor or None, whether it is written): each as a View, or None."""
    return {name: None if value is None else View(name, value, writable) for name, (value, writable) in tensors.items()}


def pointer(view):
    return None if view is None else ctypes.pointer(view.tensor)


def stream_of(view, value):
    """The hipStream_t that the work of a tensor is on; None: the default one, or the host."""
    if not view.is_gpu:
        return None
    import torch  # only torch's tensors are on a GPU here
    return torch.cuda.current_stream(value.device).cuda_stream or None
