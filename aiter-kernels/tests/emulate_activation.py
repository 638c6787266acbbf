"""Runs the compiled gated activations of one target on the CPU emulator and holds them against numpy and the Rust reference.

    python3 emulate_activation.py FOLDER TARGET [--reference target/debug/examples/reference] [--only NAME]
"""
import math, struct

import numpy as np

from emulation import DATA_TYPES, Checks, Guarded, difference, emu, geometry

BOUND = {'bf16': 0.004, 'f16': 0.0005, 'f32': 2e-6}  # relative: half a step of the type; f32: the hardware's exp2 and reciprocal
FORMULAS = {
    'silu_and_mul': lambda x: x / (1 + np.exp(-x)),
    'gelu_and_mul': lambda x: 0.5 * x * np.vectorize(math.erfc)(-x / np.sqrt(2)),
    'gelu_tanh_and_mul': lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
}
# A width below one vector, one that is no multiple of it, one of two tiles; the padding leaves rows unaligned.
SHAPES = [(3, 300, 0), (2, 5, 3), (2, 2051, 1), (1, 4096, 0)]


def run(code_object, entry, target, dtype, x, width, padding):
    shape = geometry(str(code_object), entry)
    memory = emu.Mem(1 << 20)
    rows = x.shape[0]
    source = memory.put(x)
    out = Guarded(memory, (rows, width + padding), dtype.storage)
    args = struct.pack('<QQqqii', out.address, source, width + padding, x.shape[1], width, 0)
    assert len(args) == shape.argument_bytes, (len(args), shape)
    emu.launch(str(code_object), entry, target, memory, args, (rows, -(-width // shape.tile_n), 1), shape.threads // 32)
    written = out.get()
    sentinels = np.ascontiguousarray(written[:, width:]).view(np.uint8)
    assert (sentinels == 0xA5).all(), 'the kernel wrote between two rows'
    return dtype.decode(np.ascontiguousarray(written[:, :width]))


def relative(found, expected):
    # Below this the type itself has no relative precision left.
    return difference(found / (np.abs(expected) + 1e-3), expected / (np.abs(expected) + 1e-3))


checks = Checks(__doc__)
for code_object, entry, match in checks.kernels(r'((?:silu|gelu|gelu_tanh)_and_mul)_(\w+)'):
    operation, formula, dtype = match[1], FORMULAS[match[1]], DATA_TYPES[match[2]]
    for rows, width, padding in SHAPES:
        rng = np.random.default_rng(3)
        x = dtype.encode(2 * rng.normal(size=(rows, 2 * width + padding)))
        out = run(code_object, entry, checks.options.target, dtype, x, width, padding)
        row = dtype.decode(x)[:, :2 * width].astype(np.float64)
        expected = formula(row[:, :width]) * row[:, width:]
        errors = {'relative': (relative(out, expected), BOUND[dtype.name])}
        ours = checks.reference(operation, dict(input=x[:, :2 * width]), ('out',), dtype=dtype.name, rows=rows, width=width)
        if ours:
            errors['against Rust'] = (relative(out, ours[0].reshape(rows, width)), BOUND[dtype.name])
        checks.bound(f'{entry} {rows}x{width} rows {padding} apart', **errors)
checks.finish()
