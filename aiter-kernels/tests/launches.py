"""What the installed package launches on a GPU, as a stub of the HIP runtime writes it down (crates/hip/tests/stub): kernels, grids and argument blocks.

Needs STRATA_STUB_LAUNCHES, and the stub where the loader finds it. Without them it prints what the first call says. The stub computes nothing, and the
addresses are only compared, so this says nothing of a GPU.
"""
import ctypes
import os
import struct
import sys

import aiter_kernels as ak
from aiter_kernels import _library
from aiter_kernels._library import Tensor, attention_defaults, call, check

BF16, F32, I32, ROCM = 0, 2, 5, 10


def tensor(address, shape, element_type=BF16, strides=None):
    made = Tensor(address, (ctypes.c_int64 * len(shape))(*shape), (ctypes.c_int64 * len(shape))(*strides) if strides else None, len(shape),
                  element_type, ROCM, 0)
    return ctypes.pointer(made)


def launched():
    """The launches since the last time: (kernel, grid, threads, stream, arguments)."""
    global read
    with open(os.environ['STRATA_STUB_LAUNCHES']) as log:
        lines = log.read().splitlines()
    new, read = lines[read:], len(lines)
    words = [line.split() for line in new]
    return [(w[0], tuple(map(int, w[1:4])), int(w[4]), int(w[5]), bytes.fromhex(w[6])) for w in words]


def silu(stream=None):
    call('silu_and_mul', tensor(0x1000, (3, 5000)), tensor(0x2000, (3, 10000)), stream=stream)


read = 0
try:
    silu()
except ak.RuntimeFailure as error:
    print(error)
    sys.exit()

(kernel, grid, threads, stream, arguments), = launched()
assert (kernel, threads, stream) == ('silu_and_mul_bf16', 256, 0) and grid[0] == 3 and grid[1] * 2048 >= 5000, (kernel, grid)
assert struct.unpack('<4qii', arguments) == (0x1000, 0x2000, 5000, 10000, 5000, 0)

silu(stream=0x5EED)
(_, _, _, stream, _), = launched()
assert stream == 0x5EED, "the caller's stream"

call('rms_norm', *(tensor(address, (7, 96)) for address in (0x1000, 0x2000, 0x3000, 0x3800)), tensor(0x4000, (96,)), 1e-6)
(kernel, grid, _, _, arguments), = launched()
assert kernel == 'rms_norm_bf16' and grid == (7, 1, 1)
assert struct.unpack_from('<6q', arguments) == (0x1000, 0x2000, 0x3000, 0x3800, 0x4000, 0)

dense = attention_defaults()
dense.q, dense.out = tensor(0x1000, (2, 70, 8, 64)), tensor(0x4000, (2, 70, 8, 64))
dense.k, dense.v = tensor(0x2000, (2, 101, 2, 64)), tensor(0x3000, (2, 101, 2, 64))
dense.causal = True
call('attention', dense)
(kernel, grid, threads, _, arguments), = launched()
assert kernel == 'fmha_fwd_bf16_d64' and grid[0] == 8 and grid[2] == 2, (kernel, grid)
assert struct.unpack_from('<4q', arguments) == (0x1000, 0x2000, 0x3000, 0x4000)
assert struct.unpack_from('<q', arguments, 32)[0] != 0, 'kernels always write an LSE'

decode = attention_defaults()
decode.q, decode.out = tensor(0x1000, (3, 8, 64)), tensor(0x4000, (3, 8, 64))
decode.k, decode.v = tensor(0x2000, (40, 16, 2, 64)), tensor(0x3000, (40, 16, 2, 64))
decode.cu_seqlens_q, decode.seqlens_k, decode.block_table = tensor(0x5000, (4,), I32), tensor(0x6000, (3,), I32), tensor(0x7000, (3, 300), I32)
decode.max_seqlen_q, decode.max_seqlen_k = 1, 4800
call('attention', decode)
(parts, _, _, _, first), (combine, _, _, _, second) = launched()
assert (parts, combine) == ('fmha_split_kv_bf16_d64', 'fmha_combine_bf16')
assert struct.unpack_from('<2q', first, 24) == struct.unpack_from('<2q', second, 24), 'both kernels mean the same parts'
assert struct.unpack_from('<q', first, 40) == struct.unpack_from('<q', second, 16) == (0x5000,), 'and the same rows'
check('check_attention', decode)
assert launched() == [], 'a check launches nothing'

# Memory that a stream's calls share grows, and what was given out before stays: a graph that was recorded has its address.
hip = ctypes.CDLL('libamdhip64.so.7')


def used():
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    hip.hipMemGetInfo(ctypes.byref(free), ctypes.byref(total))
    return total.value - free.value


def parts_of(rows):
    """Where the parts of as many queries lie, and how many bytes the call takes."""
    decode.q, decode.out = tensor(0x1000, (rows, 8, 64)), tensor(0x4000, (rows, 8, 64))
    call('attention', decode, stream=0x5EED)
    arguments = launched()[0][4]
    splits, = struct.unpack_from('<i', arguments, 72)
    takes = sum(-(-4 * floats // 256) * 256 for floats in (rows * 8, 3 * 8 * splits * 64, 3 * 8 * splits))
    return struct.unpack_from('<q', arguments, 24)[0], takes


before = used()
few, takes_few = parts_of(3)
assert used() == before + takes_few
more, takes_more = parts_of(50000)
assert used() == before + takes_few + max(2 * takes_few, takes_more), 'the first one is still there'
assert few != more and parts_of(3)[0] != few, 'and the largest one serves from then on'
parts_of(3)

# What does not fit is never launched.
for change, kind, message in ((('dropout_p', 0.5), ak.Unsupported, 'dropout_p: '),
                              (('k', tensor(0x2000, (80, 8, 2, 64))), ak.InvalidArgument, 'block_table: expected the shape'),
                              (('k', tensor(0x2008, (40, 16, 2, 64))), ak.InvalidArgument, 'k: the address must be a multiple of 16 bytes'),
                              (('k', tensor(0x2000, (40, 16, 2, 64), F32)), ak.InvalidArgument, 'k: expected bf16, found f32')):
    before = getattr(decode, change[0])
    setattr(decode, *change)
    try:
        call('attention', decode)
        raise AssertionError(f'not refused: {message}')
    except kind as error:
        assert str(error).startswith(message), error
    setattr(decode, change[0], before)
small = [tensor(address, (80, 8, 2, 64)) for address in (0x2000, 0x3000)]
decode.k, decode.v, decode.max_seqlen_k = *small, 2400
try:
    call('attention', decode)
    raise AssertionError('a page that holds no whole tile')
except ak.Unsupported as error:
    assert str(error).startswith('page_rows: 8 is no multiple of 16'), error
assert launched() == []
print('ok')
