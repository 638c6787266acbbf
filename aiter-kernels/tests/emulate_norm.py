"""Runs the compiled norms of one target on the CPU emulator and holds them against numpy and the Rust reference.

    python3 emulate_norm.py FOLDER TARGET [--reference target/debug/examples/reference] [--only NAME]
"""
import struct

import numpy as np

from emulation import DATA_TYPES, Checks, Guarded, difference, emu, geometry

BOUND = {'bf16': 0.004, 'f16': 0.0005, 'f32': 4e-6}  # relative: half a step of the type; f32: sums and the hardware's functions
EPSILON = 1e-5


def rms(x):
    return x / np.sqrt((x * x).mean(1, keepdims=True) + EPSILON)


def layer(x):
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(1, keepdims=True) + EPSILON)


def softmax(x):
    weights = np.exp(x - x.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


FORMULAS = {'rms_norm': rms, 'layer_norm': layer, 'softmax': softmax}
# rows, width, distance of rows beyond the width, offset of the numbers; with a residual, a weight, a bias
SHAPES = [(3, 300, 0, 0, True, True, True), (2, 5, 3, 10, False, True, False), (2, 2051, 1, 0, True, False, False), (1, 4096, 0, -3, False, True, True)]


def run(code_object, entry, target, dtype, x, width, padding, residual, weight, bias):
    shape = geometry(str(code_object), entry)
    memory = emu.Mem(1 << 21)
    rows, stride = x.shape
    out = Guarded(memory, (rows, width + padding), dtype.storage)
    put = lambda tensor: 0 if tensor is None else memory.put(tensor)
    sums = put(residual)
    args = struct.pack('<5Q', out.address, memory.put(x), sums, put(weight), put(bias))
    args += struct.pack('<3qif', width + padding, stride, stride, width, EPSILON)
    assert len(args) == shape.argument_bytes, (len(args), shape)
    descriptor, _, _, _ = emu.launch(str(code_object), entry, target, memory, args, (rows, 1, 1), shape.threads // 32)
    assert descriptor['lds'] == shape.lds_bytes, (descriptor, shape)
    written = out.get()
    assert (np.ascontiguousarray(written[:, width:]).view(np.uint8) == 0xA5).all(), 'the kernel wrote between two rows'
    sums = None if residual is None else memory.get(sums, rows * stride, dtype.storage).reshape(rows, stride)
    return dtype.decode(np.ascontiguousarray(written[:, :width])), sums


def relative(found, expected):
    scale = np.abs(expected) + 1e-2 * np.abs(expected).max()  # the sums of a row carry the error of their largest terms
    return difference(found / scale, expected / scale)


checks = Checks(__doc__)
for code_object, entry, match in checks.kernels(r'(rms_norm|layer_norm|softmax)_(\w+)'):
    operation, formula, dtype = match[1], FORMULAS[match[1]], DATA_TYPES[match[2]]
    for rows, width, padding, offset, *optional in SHAPES:
        rng = np.random.default_rng(3)
        x = dtype.encode(2 * rng.normal(size=(rows, width + padding)) + offset)
        tensors = (x.shape, (width,), (width,))
        if operation == 'softmax':
            optional = [False] * 3
        residual, weight, bias = (dtype.encode(rng.normal(size=s)) if there else None for s, there in zip(tensors, optional))
        out, sums = run(code_object, entry, checks.options.target, dtype, x, width, padding, residual, weight, bias)
        total = dtype.decode(x)[:, :width]
        errors = {}
        if residual is not None:
            total = dtype.decode(dtype.encode(total + dtype.decode(residual)[:, :width]))
            errors['sum'] = (difference(dtype.decode(np.ascontiguousarray(sums[:, :width])), total), 0)
            assert (sums[:, width:] == residual[:, width:]).all(), 'the kernel wrote between two rows of the residual'
        expected = formula(total.astype(np.float64))
        expected = expected * (1 if weight is None else dtype.decode(weight)) + (0 if bias is None else dtype.decode(bias))
        errors['relative'] = (relative(out, expected), BOUND[dtype.name])
        inputs = dict(input=x[:, :width], residual=None if residual is None else residual[:, :width], weight=weight, bias=bias)
        ours = checks.reference(operation, {k: t for k, t in inputs.items() if t is not None}, ('out',), dtype=dtype.name,
                                width=width, epsilon=EPSILON)
        if ours:
            errors['against Rust'] = (relative(out, ours[0].reshape(rows, width)), BOUND[dtype.name])
        checks.bound(f'{entry} {rows}x{width} rows {padding} apart', **errors)
checks.finish()
