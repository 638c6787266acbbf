"""Runs the compiled fmha_fwd kernels of one target on the CPU emulator and holds them against numpy and the Rust reference.

    python3 emulate_attention.py FOLDER TARGET [--reference target/debug/examples/reference] [--only NAME]
"""
import struct

import numpy as np

from attention_problems import CAUSAL_BOTTOM, CAUSAL_TOP, OPEN, SLIDING, Problem, Window, judge
from emulation import DATA_TYPES, Checks, Guarded, emu, geometry

DENSE = [((70,), (101,)), ((33, 33), (65, 65)), ((70,), (37,)), ((1,), (130,))]
VARLEN = [((37, 70), (90, 101)), ((70, 0, 5), (3, 40, 0))]
HEADS = [(2, 1), (4, 2), (1, 1), (3, 1)]


def problems(varlen, masked):
    for heads, lengths in zip(HEADS, VARLEN if varlen else DENSE):
        for window in (CAUSAL_TOP, CAUSAL_BOTTOM, SLIDING, OPEN) if masked else (None,):
            yield Problem(*heads, *lengths, window)


def run(code_object, entry, target, problem, dtype, varlen, q, k, v, scale):
    shape = geometry(str(code_object), entry)
    head_dim, batch = shape.head_dim, len(problem.queries)
    rows, queries, keys = sum(problem.queries), max(problem.queries), max(problem.keys)

    memory = emu.Mem(1 << 24)
    aq, ak, av = (memory.put(t) for t in (q, k, v))
    o = Guarded(memory, q.shape, dtype.storage)
    lse = Guarded(memory, (problem.heads, rows) if varlen else (batch, problem.heads, queries), np.float32)
    offsets = [memory.put(np.cumsum((0, *lengths)).astype(np.int32)) for lengths in (problem.queries, problem.keys)]
    row, kv_row = problem.heads * head_dim, problem.kv_heads * head_dim
    window = problem.window or Window(0, 0, 0)
    args = struct.pack('<7Q', aq, ak, av, o.address, lse.address, *(offsets if varlen else (0, 0)))
    args += struct.pack('<4i2f', queries, keys, problem.heads, problem.heads // problem.kv_heads, scale, 0)
    args += struct.pack('<4i', row, kv_row, kv_row, row)
    args += struct.pack('<4i', *[head_dim] * 4)
    args += struct.pack('<4i', queries * row, keys * kv_row, keys * kv_row, queries * row)
    args += struct.pack('<2i', rows if varlen else queries, problem.heads * queries)
    args += struct.pack('<4i', window.left, window.right, window.origin, 0)
    assert len(args) == shape.argument_bytes, (len(args), shape)

    grid = (problem.heads, -(-queries // shape.tile_m), batch)
    descriptor, _, duplicates, executed = emu.launch(str(code_object), entry, target, memory, args, grid, shape.threads // 32)
    assert descriptor['lds'] == shape.lds_bytes, (descriptor, shape)
    assert any(op.startswith('v_wmma') for op in executed), 'no WMMA was executed'
    assert duplicates == 0, f'{duplicates} WMMA operands whose half-waves differ'
    logarithms = lse.get()
    if not varlen:
        logarithms = logarithms.transpose(1, 0, 2).reshape(problem.heads, rows)
    return dtype.decode(o.get()), logarithms


checks = Checks(__doc__)
for code_object, entry, match in checks.kernels(r'fmha_fwd_(\w+)_d(\d+)_(dense|varlen)(_masked)?'):
    name, dim, mode, masked = match.groups()
    dtype, head_dim = DATA_TYPES[name], int(dim)
    for problem in problems(mode == 'varlen', bool(masked)):
        q, k, v = problem.tensors(dtype, head_dim)
        scale = head_dim ** -0.5
        o, lse = run(code_object, entry, checks.options.target, problem, dtype, mode == 'varlen', q, k, v, scale)
        judge(checks, entry, problem, dtype, q, k, v, scale, o, lse)
checks.finish()
