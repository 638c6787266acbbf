"""Runs the compiled rotary embeddings and appendkv of one target on the CPU emulator and holds them against numpy and the Rust reference.

    python3 emulate_rope.py FOLDER TARGET [--reference target/debug/examples/reference] [--only NAME]
"""
import struct

import numpy as np

from emulation import DATA_TYPES, Checks, Guarded, difference, emu, geometry

BOUND = {'bf16': 0.016, 'f16': 0.002, 'f32': 1e-6}  # half a step of the type at the largest numbers, of size 4
POSITIONS = 64
STYLES = ('neox', 'interleaved')


def tables(rotary_dim):
    angles = np.arange(POSITIONS)[:, None] * 10000.0 ** (-np.arange(0, rotary_dim, 2) / rotary_dim)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def rotated(x, positions, cos, sin, style, first=0):
    """x [row, head, head dim] with the elements from `first` on rotated."""
    half = cos.shape[1]
    out = x.astype(np.float64)
    part = out[:, :, first:first + 2 * half].copy()
    a, b = (slice(0, half), slice(half, None)) if style == 'neox' else (slice(0, None, 2), slice(1, None, 2))
    c, s = (t[positions][:, None].astype(np.float64) for t in (cos, sin))
    out[:, :, first:first + 2 * half][:, :, a] = part[:, :, a] * c - part[:, :, b] * s
    out[:, :, first:first + 2 * half][:, :, b] = part[:, :, b] * c + part[:, :, a] * s
    return out


# heads, head dim, rotary dim, whether the other elements come first, whether out is the input
ROPES = [(3, 64, 64, False, False), (2, 96, 20, False, False), (1, 64, 32, True, False), (5, 6, 6, False, True)]


def rope(code_object, entry, target, dtype, x, positions, cos, sin, style, first, in_place):
    shape = geometry(str(code_object), entry)
    rows, heads, head_dim = x.shape
    memory = emu.Mem(1 << 20)
    source = memory.put(x)
    out = Guarded(memory, x.shape, dtype.storage)
    if in_place:
        source = out.address
        out.fill(x)
    args = struct.pack('<5Q', out.address, source, *(memory.put(t) for t in (cos, sin, positions.astype(np.int32))))
    args += struct.pack('<2q8i', heads * head_dim, heads * head_dim, head_dim, head_dim, heads, head_dim, 2 * cos.shape[1], first,
                        STYLES.index(style), 0)
    assert len(args) == shape.argument_bytes, (len(args), shape)
    emu.launch(str(code_object), entry, target, memory, args, (rows, 1, 1), shape.threads // 32)
    return dtype.decode(out.get())


def check_rope(code_object, entry, dtype):
    for heads, head_dim, rotary_dim, nope_first, in_place in ROPES:
        for style in STYLES:
            rng = np.random.default_rng(5)
            positions = np.array([0, 63, 17])
            x = dtype.encode(rng.normal(size=(3, heads, head_dim)))
            cos, sin = tables(rotary_dim)
            first = head_dim - rotary_dim if nope_first else 0
            out = rope(code_object, entry, checks.options.target, dtype, x, positions, cos, sin, style, first, in_place)
            errors = {'numpy': (difference(out, rotated(dtype.decode(x), positions, cos, sin, style, first)), BOUND[dtype.name])}
            ours = checks.reference('rope', dict(input=x, cos=cos, sin=sin), ('out',), dtype=dtype.name, heads=heads, head_dim=head_dim,
                                    rotary_dim=rotary_dim, style=style, nope_first=str(nope_first).lower(),
                                    positions=','.join(map(str, positions)))
            if ours:
                errors['Rust'] = (difference(out, ours[0]), BOUND[dtype.name])
            checks.bound(f'{entry} {heads}x{head_dim} {style} {rotary_dim}{" last" if nope_first else ""}', **errors)


# filled, added, kv heads, head dim, rotary dim (0: none), rows of a page (0: no pages)
APPENDS = [((5, 0, 31), (2, 3, 1), 2, 64, 64, 16), ((0, 7), (1, 0), 1, 96, 20, 0), ((15,), (18,), 1, 32, 0, 16)]


def append(code_object, entry, target, dtype, filled, added, caches, new, table, page_rows, cos, sin, style, varlen):
    shape = geometry(str(code_object), entry)
    memory = emu.Mem(1 << 22)
    _, rows, heads, head_dim = caches[0].shape
    k, v = (Guarded(memory, t.shape, dtype.storage) for t in caches)
    for guarded, tensor in zip((k, v), caches):
        guarded.fill(tensor)
    put = lambda tensor, type=np.int32: memory.put(np.array(tensor, type))
    addresses = [0, 0] if cos is None else [memory.put(cos), memory.put(sin)]
    args = struct.pack('<11Q', k.address, v.address, *(memory.put(t) for t in new), *addresses, put(filled),
                       put(np.cumsum((0, *added))) if varlen else 0, memory.put(table) if page_rows else 0,
                       rows * heads * head_dim, rows * heads * head_dim)
    row = heads * head_dim
    args += struct.pack('<7i', max(added), heads, head_dim, 0 if cos is None else 2 * cos.shape[1], STYLES.index(style), page_rows,
                        table.shape[1])
    args += struct.pack('<9i', row, row, head_dim, head_dim, row, row, head_dim, head_dim, 0)
    assert len(args) == shape.argument_bytes, (len(args), shape)
    emu.launch(str(code_object), entry, target, memory, args, (max(added), len(filled), 1), shape.threads // 32)
    return k.get(), v.get()


def check_append(code_object, entry, dtype):
    for filled, added, heads, head_dim, rotary_dim, page_rows in APPENDS:
        for style in STYLES if rotary_dim else STYLES[:1]:
            rng = np.random.default_rng(6)
            pages_each = 4 if page_rows else 1
            rows = page_rows or 40
            table = rng.permutation(len(filled) * pages_each).astype(np.int32).reshape(len(filled), pages_each)
            if not page_rows:
                table = np.arange(len(filled), dtype=np.int32)[:, None]
            caches = [dtype.encode(rng.normal(size=(table.size, rows, heads, head_dim))) for _ in range(2)]
            new = [dtype.encode(rng.normal(size=(sum(added), heads, head_dim))) for _ in range(2)]
            cos, sin = tables(rotary_dim) if rotary_dim else (None, None)
            varlen = len(set(added)) > 1
            k, v = append(code_object, entry, checks.options.target, dtype, filled, added, caches, new, table, page_rows, cos, sin, style, varlen)

            keys = np.concatenate([np.arange(f, f + a) for f, a in zip(filled, added)])
            sequences = np.repeat(np.arange(len(filled)), added)
            turned = dtype.decode(new[0]).astype(np.float64)
            if rotary_dim:
                turned = rotated(dtype.decode(new[0]), keys, cos, sin, style)
            expected = [dtype.decode(t).astype(np.float64) for t in caches]
            for tensor, fresh in zip(expected, (turned, dtype.decode(new[1]))):
                tensor[table[sequences, keys // rows], keys % rows] = fresh
            errors = {'k': (difference(dtype.decode(k), expected[0]), BOUND[dtype.name]), 'v': (difference(dtype.decode(v), expected[1]), 0)}
            inputs = dict(k_cache=caches[0], v_cache=caches[1], k_new=new[0], v_new=new[1])
            layout = dict(page_rows=page_rows, pages=pages_each) if page_rows else dict(capacity=rows)
            if page_rows:
                inputs['block_table'] = table
            turn = dict(rotary_dim=rotary_dim, style=style) if rotary_dim else {}
            inputs |= dict(cos=cos, sin=sin) if rotary_dim else {}
            ours = checks.reference('append_kv', inputs, ('k_out', 'v_out'), dtype=dtype.name, kv_heads=heads, head_dim=head_dim,
                                    filled=','.join(map(str, filled)), added=','.join(map(str, added)), **layout, **turn)
            if ours:
                errors['k against Rust'] = (difference(dtype.decode(k), ours[0]), 2 * BOUND[dtype.name])
                errors['v against Rust'] = (difference(dtype.decode(v), ours[1]), 0)
            checks.bound(f'{entry} {filled}+{added} {style if rotary_dim else "plain"} {rotary_dim} pages of {page_rows}', **errors)


checks = Checks(__doc__)
for code_object, entry, match in checks.kernels(r'(rope|append_kv)_(bf16|f16|f32)'):
    check = check_rope if match[1] == 'rope' else check_append
    check(code_object, entry, DATA_TYPES[match[2]])
checks.finish()
