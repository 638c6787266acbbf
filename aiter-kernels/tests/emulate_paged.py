"""Runs the compiled fmha_paged kernels of one target on the CPU emulator and holds them against numpy and the Rust reference.

    python3 emulate_paged.py FOLDER TARGET [--reference target/debug/examples/reference] [--only NAME]
"""
import struct

import numpy as np

from attention_problems import CAUSAL_BOTTOM, CAUSAL_TOP, OPEN, SLIDING, Problem, judge, value_parts
from emulation import DATA_TYPES, Checks, Guarded, emu, geometry
from paged_cache import PagedCache

PROBLEMS = [
    Problem(2, 1, (37, 70), (190, 101), CAUSAL_BOTTOM, cap=2),
    Problem(2, 2, (20, 1), (77, 130), OPEN),
    Problem(3, 1, (65, 3), (70, 40), SLIDING),
    Problem(2, 1, (9, 0, 6), (0, 20, 33), CAUSAL_TOP),
]


def run(code_object, entry, target, problem, dtype, page_rows, q, k, v, scale):
    shape = geometry(str(code_object), entry)
    head_dim, rows = shape.head_dim, sum(problem.queries)

    memory = emu.Mem(1 << 24)
    cache = PagedCache(memory, dtype, problem.keys, k, v, page_rows)
    o = Guarded(memory, q.shape, dtype.storage)
    lse = Guarded(memory, (problem.heads, rows), np.float32)
    offsets = memory.put(np.cumsum((0, *problem.queries)).astype(np.int32))
    row = problem.heads * head_dim
    args = struct.pack('<8Q', memory.put(q), cache.k, cache.v, o.address, lse.address, offsets, cache.lengths, cache.table)
    args += struct.pack('<4i2f', problem.heads, problem.heads // problem.kv_heads, page_rows, cache.table_stride, scale, problem.cap)
    args += struct.pack('<4i', row, cache.row_stride, cache.row_stride, row)
    args += struct.pack('<4i', *[head_dim] * 4)
    args += struct.pack('<3i', cache.page_stride, cache.page_stride, rows)
    args += struct.pack('<3i', problem.window.left, problem.window.right, problem.window.origin)
    assert len(args) == shape.argument_bytes, (len(args), shape)

    grid = (problem.heads * value_parts(head_dim), len(problem.queries), -(-max(problem.queries) // shape.tile_m))
    descriptor, _, duplicates, executed = emu.launch(str(code_object), entry, target, memory, args, grid, shape.threads // 32)
    assert descriptor['lds'] == shape.lds_bytes, (descriptor, shape)
    assert any(op.startswith('v_wmma') for op in executed), 'no WMMA was executed'
    assert duplicates == 0, f'{duplicates} WMMA operands whose half-waves differ'
    return dtype.decode(o.get()), lse.get()


checks = Checks(__doc__)
for code_object, entry, match in checks.kernels(r'fmha_paged_(\w+)_d(\d+)_n(\d+)'):
    name, dim, keys = match.groups()
    dtype, head_dim = DATA_TYPES[name], int(dim)
    for problem, pages in zip(PROBLEMS, (1, 3, 2, 1)):
        page_rows = pages * int(keys)
        q, k, v = problem.tensors(dtype, head_dim)
        scale = head_dim ** -0.5
        o, lse = run(code_object, entry, checks.options.target, problem, dtype, page_rows, q, k, v, scale)
        judge(checks, f'{entry} pages of {page_rows}', problem, dtype, q, k, v, scale, o, lse)
checks.finish()
