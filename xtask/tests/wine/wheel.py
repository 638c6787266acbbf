"""The wheel on CPython for Windows, without numpy, whose wheels call functions that Wine 8 does not have: tensors are DLPack capsules made here."""
import ctypes
import math
import sys

sys.path.insert(0, sys.argv[1])

import aiter_kernels as ak

HOST, FLOAT = 1, 2
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.argtypes, new_capsule.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object


class DLTensor(ctypes.Structure):
    """dlpack.h, v0.8; DLManagedTensor begins with it."""
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32), ('ndim', ctypes.c_int32),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)), ('byte_offset', ctypes.c_uint64),
                ('manager', ctypes.c_void_p), ('deleter', ctypes.c_void_p)]


class Array:
    """f32 of the host."""

    def __init__(self, shape, values=None):
        self.shape = shape
        self.values = (ctypes.c_float * math.prod(shape))(*(values or []))
        self.extents = (ctypes.c_int64 * len(shape))(*shape)
        self.tensor = DLTensor(ctypes.addressof(self.values), HOST, 0, len(shape), FLOAT, 32, 1, self.extents, None, 0, None, None)

    def __dlpack_device__(self):
        return HOST, 0

    def __dlpack__(self):
        return new_capsule(ctypes.addressof(self.tensor), b'dltensor', None)


def raises(kind, start, call):
    try:
        call()
    except kind as error:
        assert str(error).startswith(start), f'expected {start!r}, found {str(error)!r}'
        return
    raise AssertionError(f'not refused: {start}')


assert sys.platform == 'win32' and ak.__version__
x = [math.sin(n) * 3 for n in range(2 * 2 * 100)]
out = Array((2, 100))
ak.silu_and_mul(out, Array((2, 200), x))
for row in range(2):
    for column in range(100):
        gate, up = x[row * 200 + column], x[row * 200 + 100 + column]
        expected, found = gate / (1 + math.exp(-gate)) * up, out.values[row * 100 + column]
        assert abs(found - expected) <= 4e-6 * abs(expected) + 1e-6, f'{row} {column}: {found} against {expected}'
raises(ak.InvalidArgument, 'input: expected the shape [2, 198]', lambda: ak.silu_and_mul(Array((2, 99)), Array((2, 200), x)))
raises(ak.InvalidArgument, 'input: expected a tensor', lambda: ak.silu_and_mul(out, [1.0]))
raises(ak.Unsupported, 'dropout_p: ', lambda: ak.flash_attn_func(out, out, out, dropout_p=0.5))
print('ok')
