"""Runs the compiled fmha_split_kv and fmha_combine kernels of one target on the CPU emulator, one after the other as a decode does, and holds
them against numpy and the Rust reference.

    python3 emulate_decode.py FOLDER TARGET [--reference target/debug/examples/reference] [--only NAME]
"""
import struct

import numpy as np

from attention_problems import Problem, judge, value_parts
from emulation import DATA_TYPES, Checks, Guarded, emu, geometry
from paged_cache import PagedCache

# problem, splits, rows of a page: a whole tile of heads, more heads than a tile, more splits than keys, a sequence without keys.
CASES = [
    (Problem(8, 2, (1, 1), (470, 333), cap=2), 3, 16),
    (Problem(16, 1, (1, 1, 1), (1, 0, 90)), 5, 48),
    (Problem(20, 1, (1,), (65,)), 2, 64),
    (Problem(2, 2, (1, 1), (3, 200)), 9, 32),
    (Problem(4, 2, (1,), (100,)), 1, 112),
]


def run(split_object, entry, combine_object, target, problem, dtype, splits, page_rows, q, k, v, scale):
    combine = f'fmha_combine_{dtype.name}'
    shape = geometry(str(split_object), entry)
    head_dim, batch, heads = shape.head_dim, len(problem.keys), problem.heads
    group = heads // problem.kv_heads

    memory = emu.Mem(1 << 24)
    cache = PagedCache(memory, dtype, problem.keys, k, v, page_rows)
    o_parts = Guarded(memory, (batch, heads, splits, head_dim), np.float32)
    lse_parts = Guarded(memory, (batch, heads, splits), np.float32)
    args = struct.pack('<7Q', memory.put(q), cache.k, cache.v, o_parts.address, lse_parts.address, cache.lengths, cache.table)
    args += struct.pack('<5i2f', heads, group, splits, page_rows, cache.table_stride, scale, problem.cap)
    args += struct.pack('<2i', heads * head_dim, head_dim)
    args += struct.pack('<6i', cache.row_stride, cache.row_stride, head_dim, head_dim, cache.page_stride, cache.page_stride)
    args += struct.pack('<i', 0)
    assert len(args) == shape.argument_bytes, (len(args), shape)
    grid = (-(-group // shape.tile_m) * value_parts(head_dim) * splits, problem.kv_heads, batch)
    _, _, duplicates, _ = emu.launch(str(split_object), entry, target, memory, args, grid, shape.threads // 32)
    assert duplicates == 0, f'{duplicates} WMMA operands whose half-waves differ'
    o_parts.get(), lse_parts.get()

    shape = geometry(str(combine_object), combine)
    o = Guarded(memory, (batch, heads, head_dim), dtype.storage)
    lse = Guarded(memory, (batch, heads), np.float32)
    args = struct.pack('<4Q6i', o.address, lse.address, o_parts.address, lse_parts.address, heads, splits, head_dim,
                       heads * head_dim, head_dim, 0)
    assert len(args) == shape.argument_bytes, (len(args), shape)
    emu.launch(str(combine_object), combine, target, memory, args, (heads, batch, 1), shape.threads // 32)
    return dtype.decode(o.get()), lse.get().T


checks = Checks(__doc__)
combine_object = checks.options.folder / 'fmha_combine.co'
for code_object, entry, match in checks.kernels(r'fmha_split_kv_(\w+)_d(\d+)'):
    name, dim = match.groups()
    dtype, head_dim = DATA_TYPES[name], int(dim)
    for problem, splits, page_rows in CASES:
        q, k, v = problem.tensors(dtype, head_dim)
        scale = head_dim ** -0.5
        o, lse = run(code_object, entry, combine_object, checks.options.target, problem, dtype, splits, page_rows, q, k, v, scale)
        judge(checks, f'{entry} {splits} splits, pages of {page_rows}', problem, dtype, q, k, v, scale, o, lse)
checks.finish()
