"""What the emulate_*.py checks share: the emulator, tensors in the kernels' types, and the CPU reference of this crate.

The emulator is rdna_emu.py in RDNA_EMU_DIR (default: ../shared/tools beside the workspace); it finds LLVM's tools through LLVM_BIN. Needs numpy.
"""
import argparse, os, re, struct, subprocess, sys, tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WORKSPACE = Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get('RDNA_EMU_DIR', str(WORKSPACE.parent / 'shared' / 'tools')))
import rdna_emu as emu  # noqa: E402
import opcodes  # noqa: E402, F401

SENTINEL = 0xA5  # in every byte that a kernel must not write


@dataclass(frozen=True)
class DataType:
    name: str
    storage: type  # of the bits
    float: type | None  # numpy's type for them, where it has one

    def encode(self, x):
        x = np.asarray(x, np.float32)
        if self.float:
            return x.astype(self.float).view(self.storage)
        bits = x.view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)

    def decode(self, bits):
        if self.float:
            return bits.view(self.float).astype(np.float32)
        return (bits.astype(np.uint32) << 16).view(np.float32)


DATA_TYPES = {t.name: t for t in (DataType('bf16', np.uint16, None), DataType('f16', np.uint16, np.float16),
                                  DataType('f32', np.uint32, np.float32))}


@dataclass(frozen=True)
class Geometry:
    threads: int
    tile_m: int
    tile_n: int
    head_dim: int
    argument_bytes: int
    lds_bytes: int


def symbols(code_object):
    """The addresses of the dynamic symbols by name."""
    text = subprocess.run([emu.tool('llvm-readelf'), '--dyn-syms', '-W', code_object], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.splitlines() if re.match(r' +\d+: ', line)]
    return {row[7]: int(row[1], 16) for row in rows if len(row) == 8}


def entries(code_object):
    """The kernels of a code object, in the order of their names."""
    return sorted(name.removesuffix('.kd') for name in symbols(code_object) if name.endswith('.kd'))


def geometry(code_object, entry):
    """Reads `<entry>_geometry` as the launcher does."""
    address = symbols(code_object)[f'{entry}_geometry']
    sections = subprocess.run([emu.tool('llvm-readelf'), '-SW', code_object], capture_output=True, text=True, check=True).stdout
    for start, offset, size in re.findall(r'PROGBITS\s+(\w+) (\w+) (\w+)', sections):
        start, offset, size = int(start, 16), int(offset, 16), int(size, 16)
        if start <= address < start + size:
            return Geometry(*struct.unpack_from('<6I', Path(code_object).read_bytes(), offset + address - start))
    sys.exit(f'{code_object}: {entry}_geometry lies in no section')


class Guarded:
    """An output in device memory with sentinels in it and behind it."""
    GUARD = 4096

    def __init__(self, memory, shape, storage):
        self.memory, self.shape, self.storage = memory, shape, storage
        self.bytes = int(np.prod(shape)) * np.dtype(storage).itemsize
        self.address = memory.put(np.full(self.bytes + self.GUARD, SENTINEL, np.uint8))

    def fill(self, tensor):
        """Gives it contents to start with."""
        start = self.address - self.memory.BASE
        self.memory.b[start:start + self.bytes] = np.frombuffer(np.ascontiguousarray(tensor).tobytes(), np.uint8)

    def get(self):
        guard = self.memory.get(self.address + self.bytes, self.GUARD, np.uint8)
        assert (guard == SENTINEL).all(), 'the kernel wrote behind its output'
        return self.memory.get(self.address, int(np.prod(self.shape)), self.storage).reshape(self.shape)


class Checks:
    """Runs, prints and counts the checks of one script."""

    def __init__(self, description):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument('folder', type=Path, help='with the .co files, e.g. artifacts/.../gfx1201/kernels')
        parser.add_argument('target', help='e.g. gfx1201')
        parser.add_argument('--reference', type=Path, help='target/debug/examples/reference: hold the kernels against it too')
        parser.add_argument('--only', default='', help='run the kernels whose name has this in it')
        self.options = parser.parse_args()
        self.failed = self.passed = 0

    def kernels(self, pattern):
        """(code object, entry, match) of the kernels whose entry matches; none at all is a failure."""
        found = []
        for code_object in sorted(self.options.folder.glob('*.co')):
            for entry in entries(str(code_object)):
                match = re.fullmatch(pattern, entry)
                if match and self.options.only in entry:
                    found.append((code_object, entry, match))
        if not found:
            sys.exit(f'{self.options.folder}: no kernel matches {pattern}')
        return found

    def bound(self, what, **errors):
        """errors: name=(error, bound)."""
        good = all(error <= bound for error, bound in errors.values())
        self.passed += good
        self.failed += not good
        numbers = '  '.join(f'{name} {error:.2g} (<= {bound:g})' for name, (error, bound) in errors.items())
        print(f'{"ok  " if good else "FAIL"} {self.options.target} {what}: {numbers}', flush=True)

    def finish(self):
        print(f'{self.passed} passed, {self.failed} failed')
        sys.exit(1 if self.failed else 0)

    def quantised(self, operation, inputs, **options):
        """[codes, scales] of the Rust reference; None without --reference."""
        return self.reference(operation, inputs, ('out', 'scales'), {'out': np.uint8}, **options)

    def reference(self, operation, inputs, outputs, types={}, **options):
        """Runs the Rust CPU reference over files; None without --reference."""
        if not self.options.reference:
            return None
        with tempfile.TemporaryDirectory() as folder:
            for name, tensor in inputs.items():
                Path(folder, name).write_bytes(np.ascontiguousarray(tensor).tobytes())
            words = [f'{name}={value}' for name, value in options.items()]
            subprocess.run([self.options.reference, operation, folder, *words], check=True)
            return [np.fromfile(Path(folder, name), types.get(name, '<f4')) for name in outputs]


def difference(a, b):
    """The largest absolute difference; infinities must be equal, a NaN counts as infinite."""
    a, b = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
    apart = np.abs(np.where(a == b, 0.0, a - b))
    return float(np.nan_to_num(apart, nan=np.inf).max(initial=0.0))
