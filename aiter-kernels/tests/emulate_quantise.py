"""Runs the compiled quantisations of one target on the CPU emulator and holds them against the Rust reference, and their results against the
input: no number is further from it than half a step of the format.

    python3 emulate_quantise.py FOLDER TARGET [--reference target/debug/examples/reference] [--only NAME]
"""
import struct

import numpy as np

from emulation import DATA_TYPES, Checks, Guarded, difference, emu, geometry

LARGEST = {'int8': 127.0, 'e4m3': 448.0}
# rows, width, distance of rows beyond the width
SHAPES = [(3, 300, 0), (2, 5, 3), (2, 2051, 1)]


def decode(kind, codes):
    if kind == 'int8':
        return codes.view(np.int8).astype(np.float64)
    exponent, fraction = (codes >> 3 & 15).astype(int), (codes & 7).astype(np.float64)
    assert (codes & 127 != 127).all(), 'a code that is no number'
    magnitude = np.where(exponent == 0, fraction / 512, (1 + fraction / 8) * 2.0 ** (exponent - 7))
    return np.where(codes & 128, -magnitude, magnitude)


def half_step(kind, x):
    """Half of the distance of the format's numbers around x."""
    if kind == 'int8':
        return np.full(x.shape, 0.5)
    return 2.0 ** (np.floor(np.log2(np.maximum(np.abs(x), 2.0 ** -6))) - 4)


def run(code_object, entry, target, dtype, x, width, padding):
    shape = geometry(str(code_object), entry)
    memory = emu.Mem(1 << 20)
    rows = x.shape[0]
    out, scales = Guarded(memory, (rows, width + padding), np.uint8), Guarded(memory, (rows,), np.float32)
    args = struct.pack('<3Q2q2i', out.address, scales.address, memory.put(x), width + padding, x.shape[1], width, 0)
    assert len(args) == shape.argument_bytes, (len(args), shape)
    descriptor, _, _, _ = emu.launch(str(code_object), entry, target, memory, args, (rows, 1, 1), shape.threads // 32)
    assert descriptor['lds'] == shape.lds_bytes, (descriptor, shape)
    written = out.get()
    assert (written[:, width:] == 0xA5).all(), 'the kernel wrote between two rows'
    return np.ascontiguousarray(written[:, :width]), scales.get()


checks = Checks(__doc__)
for code_object, entry, match in checks.kernels(r'quantise_(int8|e4m3)_(bf16|f16|f32)'):
    kind, dtype = match[1], DATA_TYPES[match[2]]
    for rows, width, padding in SHAPES:
        rng = np.random.default_rng(3)
        x = rng.normal(size=(rows, width + padding)) * np.exp(1.5 * rng.normal(size=(rows, width + padding)))
        x[1] = 0  # a row of zeros
        x = dtype.encode(x)
        codes, scales = run(code_object, entry, checks.options.target, dtype, x, width, padding)
        numbers = dtype.decode(x)[:, :width].astype(np.float64)
        largest = np.abs(numbers).max(1)
        scale = np.where(largest > 0, largest / LARGEST[kind], 1)
        scaled = numbers / scale[:, None]
        errors = {'scale': (difference(scales / scale, np.ones(rows)), 3e-7),
                  'half steps': (float((np.abs(decode(kind, codes) - scaled) / half_step(kind, scaled)).max()), 1.0001)}
        inputs = dict(input=np.ascontiguousarray(x[:, :width]))
        ours = checks.quantised(f'quantise_{kind}', inputs, dtype=dtype.name, width=width)
        if ours:
            # A number halfway between two codes may go to either: the kernel multiplies where the reference divides.
            steps = np.abs(decode(kind, codes) - decode(kind, ours[0].reshape(rows, width))) / half_step(kind, scaled)
            errors['steps from Rust'] = (float(steps.max()) / 2, 1)
            errors['codes unlike Rust'] = (float((steps > 0).mean()), 0.002)
            errors['scales against Rust'] = (difference(scales / ours[1], np.ones(rows)), 3e-7)
        checks.bound(f'{entry} {rows}x{width} rows {padding} apart', **errors)
checks.finish()
