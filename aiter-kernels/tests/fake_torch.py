"""Tensors on a GPU where there is none."""
import ctypes
import sys
import types

import numpy as np

import aiter_kernels as ak
from aiter_kernels import _library


class Gpu:
    """torch as far as the package asks for it, with arrays of numpy that say that they are on a GPU. Whatever fits is then refused because there are
    no kernels, and is written down."""

    def __enter__(self):
        torch = types.ModuleType('torch')

        class Tensor:
            requires_grad, is_cuda, device = False, True, 'cuda:0'

            def __init__(self, array):
                self.array, self.shape, self.dtype = np.asarray(array), np.asarray(array).shape, f'torch.{np.asarray(array).dtype}'

            def __dlpack_device__(self):
                return 10, 0

            def __dlpack__(self, max_version=None, stream=None):
                capsule = self.array.__dlpack__()
                api = ctypes.pythonapi.PyCapsule_GetPointer
                ctypes.cast(api(capsule, b'dltensor') + 8, ctypes.POINTER(ctypes.c_int32))[0] = 10
                return capsule

            def to(self, dtype):
                return Tensor(self.array.astype(dtype.split('.')[1]))

            def contiguous(self):
                return Tensor(np.ascontiguousarray(self.array))

            def tolist(self):
                return self.array.tolist()

            def reshape(self, *shape):
                return Tensor(self.array.reshape(*shape))

            def swapaxes(self, a, b):
                return Tensor(self.array.swapaxes(a, b))

        Tensor.__module__ = 'torch'
        torch.float32, torch.float16, torch.int32 = 'torch.float32', 'torch.float16', 'torch.int32'
        torch.empty = lambda shape, dtype, device: Tensor(np.empty(shape, dtype.split('.')[1]))
        torch.tensor = lambda values, dtype, device: Tensor(np.array(values, dtype.split('.')[1]))
        torch.is_grad_enabled = lambda: True
        torch.cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=0))
        self.Tensor, self.calls = Tensor, []
        sys.modules['torch'] = torch
        self._kept = _library._KERNELS, {name: getattr(module, name) for module, name in self._named()}
        _library._KERNELS = _library._LIBRARY.aiter_open(None)
        for module, name in self._named():
            setattr(module, name, self._noting(getattr(module, name)))
        return self

    @staticmethod
    def _named():
        return [(sys.modules[f'aiter_kernels.{module}'], name) for module, name in (('attention', 'call'), ('attention', 'check'), ('rope', 'call'))]

    def _noting(self, make):
        def noting(function, *arguments, **options):
            try:
                make(function, *arguments, **options)
            except ak.Unsupported as error:
                if not str(error).startswith('kernels: '):
                    raise
            self.calls.append((function, arguments))
        return noting

    def __exit__(self, *_):
        del sys.modules['torch']
        _library._KERNELS = self._kept[0]
        for module, name in self._named():
            setattr(module, name, self._kept[1][name])

    def made(self):
        made, self.calls = [function for function, _ in self.calls], []
        return made
