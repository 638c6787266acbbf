"""Opcodes of our kernels that the shared emulator does not have, added to its Wave."""
import re

import numpy as np
import rdna_emu as emu

# gfx11.5 and gfx12 have a scalar float unit.
SCALAR_FLOAT = {'s_add_f32': np.add, 's_sub_f32': np.subtract, 's_mul_f32': np.multiply}
SCALAR_FLOAT |= {name: np.fmax for name in ('s_max_f32', 's_max_num_f32')} | {name: np.fmin for name in ('s_min_f32', 's_min_num_f32')}
SCALAR_FUNCTION = {'s_exp_f32': np.exp2, 's_log_f32': np.log2, 's_rcp_f32': np.reciprocal, 's_rsq_f32': lambda x: 1 / np.sqrt(x)}
COMPARISONS = {'lt': np.less, 'le': np.less_equal, 'gt': np.greater, 'ge': np.greater_equal, 'eq': np.equal, 'ne': np.not_equal, 'neq': np.not_equal,
               'lg': lambda x, y: (x < y) | (x > y)}
COMPARISONS |= {f'n{name}': lambda x, y, compare=COMPARISONS[name]: ~compare(x, y) for name in ('lt', 'le', 'gt', 'ge', 'lg')}
VECTOR_COMPARISONS = {'f16': lambda wave, word: halves(wave.rv(word)), 'u64': lambda wave, word: wave.rd(word),
                      'i64': lambda wave, word: wave.rd(word).view(np.int64)}
HINTS = {'s_set_inst_prefetch_distance', 's_wait_alu', 's_delay_alu'}


def spell_halves(op, text):
    """`op_sel` of a v_fma_mix says which half of a register a source is, if it is an f16 at all; the emulator drops such modifiers, so the
    register is written with its half instead: v3 op_sel_hi:[1,..] becomes v3.l."""
    select, half = (re.search(rf'{name}:\[([\d,]+)\]', text) for name in ('op_sel_hi', 'op_sel'))
    is_f16, high = ([int(bit) for bit in m[1].split(',')] if m else [0, 0, 0] for m in (select, half))
    destination, *sources = [word.strip() for word in text.split(' op_sel')[0].split(',')]
    spelled = [s + ('.h' if high[i] else '.l') if is_f16[i] else s for i, s in enumerate(sources)]
    return ', '.join([destination, *spelled])


def load_program(code_object, symbol, arch, load=emu.load_program):
    program, descriptor = load(code_object, symbol, arch)
    return [(pc, *rewrite(op, text)) for pc, op, text in program], descriptor


def rewrite(op, text):
    if op in HINTS:
        return 's_nop', '0'
    if op.startswith('v_fma_mix'):
        return op, spell_halves(op, text)
    if op.startswith('v_pk_') and 'op_sel' in text:
        raise NotImplementedError(f'{op} {text}')
    if op.startswith('v_s_'):
        return op.removeprefix('v_').removesuffix('_e64'), text  # a vector unit's function of a scalar register
    if op.startswith('v_cmp_') and op.split('_')[3] in VECTOR_COMPARISONS:
        return '_'.join(('s_compare', *op.split('_')[2:4])), text
    if op.startswith('v_div_fixup_f64'):
        return 's_div_fixup_f64', text  # the emulator decides by the prefix who executes it, and its vector path has its own idea of this one
    return op, text


def fixup(quotient, denominator, numerator):
    """The last step of a division: the quotient, unless an operand is zero, infinite or no number."""
    ordinary = np.isfinite(numerator) & np.isfinite(denominator) & (numerator != 0) & (denominator != 0)
    return np.where(ordinary, quotient, numerator / denominator).astype(quotient.dtype)


def halves(bits):
    return (bits & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16)


def half_sum(x, y):
    return (halves(x) + halves(y)).view(np.uint16).astype(np.uint32)


class Wave(emu.Wave):
    def vop(self, op, a):
        if op in ('fma_mix_f32', 'fma_mixlo_f16', 'fma_mixhi_f16'):
            x, y, z = (self.mixed(word) for word in a[1:4])
            exact = (x.astype(np.float64) * y + z).astype(np.float32)
            if op == 'fma_mix_f32':
                return emu.f2u(exact)
            bits = exact.astype(np.float16).view(np.uint16).astype(np.uint32)
            old = self.rv(a[0])
            return (old & 0xFFFF0000 | bits) if op == 'fma_mixlo_f16' else (old & 0xFFFF | bits << np.uint32(16))
        if op == 'div_fixup_f32':
            return emu.f2u(fixup(*(self.rf(word) for word in a[1:4])))
        if op == 'pk_add_f16':
            x, y = (self.rv(word) for word in a[1:3])
            low, high = (half_sum(x >> np.uint32(shift), y >> np.uint32(shift)) for shift in (0, 16))
            return low | high << np.uint32(16)
        if op == 'add_f16':
            return half_sum(*(self.rv(word) for word in a[1:3]))
        if op == 'mul_hi_i32':
            x, y = (self.rv(word).view(np.int32).astype(np.int64) for word in a[1:3])
            return (x * y >> 32).astype(np.int32).view(np.uint32)
        if op in ('mad_i32_i24', 'mul_i32_i24'):
            x, y = ((self.rv(word) << np.uint32(8)).view(np.int32) >> 8 for word in a[1:3])
            return (x * y).view(np.uint32) + (self.rv(a[3]) if op.startswith('mad') else np.uint32(0))
        if op == 'bfe_i32':
            x, offset, width = self.rv(a[1]), *(self.rv(word) & np.uint32(31) for word in a[2:4])
            up = np.uint32(32) - width - offset
            return np.where(width == 0, 0, (x << up).view(np.int32) >> (up + offset).astype(np.int32)).astype(np.int32).view(np.uint32)
        if op == 'rsq_f32':
            return emu.f2u(1 / np.sqrt(self.rf(a[1])))
        return super().vop(op, a)

    def salu(self, op, a, text, pc):
        if op == 's_div_fixup_f64':
            return self.wd(a[0], fixup(*(self.rdf(word) for word in a[1:4])))
        if op == 's_cvt_f32_i32':
            return self.write_float(a[0], np.float32(np.int32(np.uint32(self.rs(a[1])))))
        if op.startswith('s_compare_'):
            compare, kind = op.split('_')[2:]
            seen = COMPARISONS[compare](*(VECTOR_COMPARISONS[kind](self, word) for word in a[-2:])) & self.mask()
            return self.ws(a[0], sum(1 << lane for lane in range(32) if seen[lane]))
        if op.startswith('s_cmp_') and op.endswith('_f32'):
            self.scc = int(COMPARISONS[op[6:-4]](*map(self.read_float, a)))
            return None
        if op == 's_fmac_f32':
            d, x, y = (np.float64(self.read_float(word)) for word in a)
            return self.write_float(a[0], np.float32(x * y + d))
        if op in SCALAR_FUNCTION:
            return self.write_float(a[0], SCALAR_FUNCTION[op](self.read_float(a[1])))
        if op in SCALAR_FLOAT:
            return self.write_float(a[0], SCALAR_FLOAT[op](*map(self.read_float, a[1:3])))
        return super().salu(op, a, text, pc)

    def read_float(self, word):
        return np.uint32(self.rs(word)).view(np.float32)

    def write_float(self, word, value):
        self.ws(word, int(np.float32(value).view(np.uint32)))

    def mixed(self, word):
        """A source of v_fma_mix as f32: v3 is an f32, v3.l and v3.h are its halves."""
        sign = -1 if word[0] == '-' and not re.fullmatch(r'-[\d.]+', word) else 1
        word = word[1:] if sign < 0 else word
        absolute = word[0] == '|'
        word = word.strip('|').replace('|.', '.')
        if word[-2:] in ('.l', '.h') and word[0] in 'vs':
            word, high = word[:-2], word.endswith('.h')
            value = self.rv(word) >> np.uint32(16 if high else 0)
            value = halves(value).astype(np.float32)
        else:
            value = self.rf(word)
        return sign * (np.abs(value) if absolute else value)


emu.Wave, emu.load_program = Wave, load_program
