"""Runs rms_norm's code object on the CPU and compares it with numpy: emulate_rms_norm.py CODE_OBJECT ARCH

RDNA_EMU_DIR names the folder of rdna_emu.py (default: ../../shared/tools, from the workspace's root), LLVM_BIN that of llvm-objdump. Needs numpy.
Prints the largest error of each kernel and shape, and ends with 1 when one is past the element's own precision.
"""
import os, re, struct, sys
import numpy as np

sys.path.insert(0, os.environ.get('RDNA_EMU_DIR', os.path.join(os.path.dirname(__file__), '../../../shared/tools')))
import rdna_emu as emu

THREADS, EPSILON = 256, 1e-6


def halves(text):
    """An operand list of v_fma_mix*, with op_sel and op_sel_hi written into the operands: `v3.h` is a half, `v3` a float."""
    operands, *modifiers = text.split(' op_sel')
    bits = {'': [0, 0, 0], '_hi': [0, 0, 0]}
    for kind, value in re.findall(r'(_hi)?:\[([01,]+)\]', ' '.join(modifiers)): bits[kind] = [int(x) for x in value.split(',')]
    out, *sources = [x.strip() for x in operands.split(',')]
    return ', '.join([out] + [f'{x}.{"lh"[sel]}' if is_half else x for x, sel, is_half in zip(sources, bits[''], bits['_hi'])])


def extended(vop):
    """The emulator has neither a reciprocal square root nor the multiply-add of mixed precision."""
    def patched(wave, op, a):
        if op == 'rsq_f32': return emu.f2u(np.float32(1) / np.sqrt(wave.rf(a[1])))
        if op in ('fma_mix_f32', 'fma_mixlo_f16', 'fma_mixhi_f16'):
            half = lambda x: wave.rv(x).astype(np.uint16).view(np.float16).astype(np.float64)
            x, y, z = (half(x) if x[-2:] in ('.l', '.h') else wave.rf(x).astype(np.float64) for x in a[1:4])
            if op == 'fma_mix_f32': return emu.f2u((x * y + z).astype(np.float32))
            return (x * y + z).astype(np.float16).view(np.uint16).astype(np.uint32)
        return vop(wave, op, a)
    return patched


def loader(load_program):
    def patched(*arguments):
        program, descriptor = load_program(*arguments)
        out = []
        for pc, op, text in program:
            if op.startswith('v_fma_mix'):
                text = halves(text)
                # A half of the result: the emulator's name for a half register says which.
                if op != 'v_fma_mix_f32': text = re.sub(r'^(v\d+)', r'\1.' + ('l' if 'mixlo' in op else 'h'), text)
            # A hint to the instruction cache, which a branch may lead to.
            if op == 's_set_inst_prefetch_distance': op = 's_nop'
            out.append((pc, op, text))
        return out, descriptor
    return patched


def to_bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits): return (bits.astype(np.uint32) << 16).view(np.float32)


# Name, storage, encode, decode, relative precision.
ELEMENTS = [
    ('f32', np.float32, lambda x: x.astype(np.float32), lambda x: x, 2e-6),
    ('f16', np.float16, lambda x: x.astype(np.float16), lambda x: x.astype(np.float32), 2**-10),
    ('bf16', np.uint16, to_bf16, from_bf16, 2**-7),
]
SHAPES = [(3, 300), (1, 1), (2, 7), (2, 2048), (1, 5003)]


def main(code_object, arch):
    emu.Wave.vop, emu.load_program = extended(emu.Wave.vop), loader(emu.load_program)
    rng, is_good = np.random.default_rng(7), True
    for name, storage, encode, decode, precision in ELEMENTS:
        for rows, columns in SHAPES:
            x, w = encode(rng.normal(size=(rows, columns)) * 2), encode(rng.normal(size=columns) + 1)
            mem = emu.Mem(1 << 20)
            at_x, at_w = mem.put(x), mem.put(w)
            guard = encode(np.full(rows * columns + 16, 77.0))
            at_out = mem.put(guard)
            args = struct.pack('<QQQIf', at_out, at_x, at_w, columns, EPSILON)
            _, instructions, _, opcodes = emu.launch(code_object, 'rms_norm_' + name, arch, mem, args, (rows, 1, 1), THREADS // 32)
            out = mem.get(at_out, rows * columns + 16, storage)
            xd, wd = decode(x).astype(np.float64), decode(w).astype(np.float64)
            want = xd / np.sqrt(np.mean(xd**2, axis=1, keepdims=True) + EPSILON) * wd
            got = decode(out[:rows * columns]).reshape(rows, columns).astype(np.float64)
            error = float(np.max(np.abs(got - want) / (np.abs(want) + 1e-3)))
            is_inside = bool((out[rows * columns:] == guard[rows * columns:]).all())
            is_good &= error <= precision and is_inside
            print(f'{arch} rms_norm_{name} {rows}x{columns} max_rel {error:.3g} (limit {precision:.3g})'
                  f' {"nothing written past the end" if is_inside else "WROTE PAST THE END"}'
                  f' instructions {instructions} opcodes {len(opcodes)}')
    return 0 if is_good else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:3]))
