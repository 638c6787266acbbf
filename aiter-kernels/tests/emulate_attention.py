"""Runs the compiled fmha_fwd kernels of one target on the CPU emulator and holds them against numpy and the Rust reference.

    python3 emulate_attention.py FOLDER TARGET [--reference target/debug/examples/reference] [--only NAME]
"""
import struct

import numpy as np

from attention_problems import CAUSAL_BOTTOM, CAUSAL_TOP, OPEN, SLIDING, Problem, judge, value_parts
from emulation import DATA_TYPES, Checks, Guarded, emu, geometry

# (varlen, problem): more and fewer keys than queries, lengths below, at and above a tile, empty sequences, GQA, MQA, windows, soft cap.
PROBLEMS = [
    (False, Problem(2, 1, (70,), (101,))),
    (False, Problem(4, 2, (33, 33), (65, 65), CAUSAL_BOTTOM)),
    (False, Problem(1, 1, (70,), (37,), CAUSAL_BOTTOM, cap=2)),
    (False, Problem(1, 1, (130,), (140,), CAUSAL_TOP)),
    (False, Problem(3, 1, (1,), (130,), SLIDING, cap=30)),
    (False, Problem(1, 1, (64,), (64,), OPEN)),
    (True, Problem(2, 1, (37, 70), (90, 101), CAUSAL_BOTTOM, cap=2)),
    (True, Problem(4, 2, (70, 0, 5), (3, 40, 0), SLIDING)),
    (True, Problem(1, 1, (9, 131), (0, 33), CAUSAL_TOP)),
]


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
    window = problem.window or OPEN
    args = struct.pack('<7Q', aq, ak, av, o.address, lse.address, *(offsets if varlen else (0, 0)))
    args += struct.pack('<4i2f', queries, keys, problem.heads, problem.heads // problem.kv_heads, scale, problem.cap)
    args += struct.pack('<4i', row, kv_row, kv_row, row)
    args += struct.pack('<4i', *[head_dim] * 4)
    args += struct.pack('<4i', queries * row, keys * kv_row, keys * kv_row, queries * row)
    args += struct.pack('<2i', rows if varlen else queries, problem.heads * queries)
    args += struct.pack('<4i', window.left, window.right, window.origin, 0)
    assert len(args) == shape.argument_bytes, (len(args), shape)

    grid = (problem.heads * value_parts(head_dim), -(-queries // shape.tile_m), batch)
    descriptor, _, duplicates, executed = emu.launch(str(code_object), entry, target, memory, args, grid, shape.threads // 32)
    assert descriptor['lds'] == shape.lds_bytes, (descriptor, shape)
    assert any(op.startswith('v_wmma') for op in executed), 'no WMMA was executed'
    assert duplicates == 0, f'{duplicates} WMMA operands whose half-waves differ'
    logarithms = lse.get()
    if not varlen:
        logarithms = logarithms.transpose(1, 0, 2).reshape(problem.heads, rows)
    return dtype.decode(o.get()), logarithms


checks = Checks(__doc__)
for code_object, entry, match in checks.kernels(r'fmha_fwd_(bf16|f16)_d(\d+)'):
    name, dim = match.groups()
    dtype, head_dim = DATA_TYPES[name], int(dim)
    for varlen, problem in PROBLEMS:
        q, k, v = problem.tensors(dtype, head_dim)
        scale = head_dim ** -0.5
        o, lse = run(code_object, entry, checks.options.target, problem, dtype, varlen, q, k, v, scale)
        judge(checks, f'{entry} {"varlen" if varlen else "dense"}', problem, dtype, q, k, v, scale, o, lse)
checks.finish()
