"""Attention problems and their answer in float64, for the emulate_*.py checks."""
from dataclasses import dataclass

import numpy as np

OUTPUT_BOUND = {'bf16': 0.01, 'f16': 0.002}  # unit-variance inputs
LSE_BOUND = 1e-3


def value_parts(head_dim):
    """Work-groups that share the columns of v and o of one head, as in native/fmha/instance.h."""
    return -(-head_dim // 128)


@dataclass(frozen=True)
class Window:
    left: int  # -1: all
    right: int
    origin: int  # 1 top left, 2 bottom right

    def visible(self, queries, keys):
        i, j = np.arange(queries)[:, None], np.arange(keys)[None]
        diagonal = i + (keys - queries if self.origin == 2 else 0)
        seen = np.ones((queries, keys), bool)
        if self.left >= 0:
            seen &= j >= diagonal - self.left
        if self.right >= 0:
            seen &= j <= diagonal + self.right
        return seen

    def __str__(self):
        return f'window {self.left},{self.right} from the {"top left" if self.origin == 1 else "bottom right"}'


CAUSAL_TOP, CAUSAL_BOTTOM, SLIDING, OPEN = Window(-1, 0, 1), Window(-1, 0, 2), Window(20, 5, 2), Window(-1, -1, 1)


@dataclass(frozen=True)
class Problem:
    heads: int
    kv_heads: int
    queries: tuple  # one length for each sequence
    keys: tuple
    window: Window | None = None
    cap: float = 0  # of the scores; 0: none

    def __str__(self):
        lengths = '+'.join(f'{q}x{k}' for q, k in zip(self.queries, self.keys))
        return f'{self.heads}/{self.kv_heads} heads {lengths}' + (f' {self.window}' if self.window else '') + (f' cap {self.cap}' if self.cap else '')

    def tensors(self, dtype, head_dim):
        """q, k, v in the type's bits, [row of all sequences, head, head dim]."""
        rng = np.random.default_rng(7)
        q = dtype.encode(rng.normal(size=(sum(self.queries), self.heads, head_dim)))
        return q, *(dtype.encode(rng.normal(size=(sum(self.keys), self.kv_heads, head_dim))) for _ in range(2))

    def numpy(self, q, k, v, scale):
        """The output and the LSE, [row, head, head dim] and [head, row], of float tensors."""
        out, lse = np.zeros(q.shape), np.full((self.heads, q.shape[0]), -np.inf)
        group = self.heads // self.kv_heads
        row = key = 0
        for queries, keys in zip(self.queries, self.keys):
            for head in range(self.heads if keys else 0):
                K, V = (t[key:key + keys, head // group].astype(np.float64) for t in (k, v))
                scores = q[row:row + queries, head].astype(np.float64) @ K.T * scale
                if self.cap:
                    scores = self.cap * np.tanh(scores / self.cap)
                if self.window:
                    scores = np.where(self.window.visible(queries, keys), scores, -np.inf)
                top = scores.max(1, initial=-np.inf)
                weights = np.exp(scores - np.where(np.isinf(top), 0, top)[:, None])
                total = weights.sum(1)
                with np.errstate(divide='ignore'):
                    lse[head, row:row + queries] = np.log(total) + np.where(np.isinf(top), 0, top)
                out[row:row + queries, head] = weights @ V / np.where(total == 0, 1, total)[:, None]
            row, key = row + queries, key + keys
        return out, lse


def judge(checks, what, problem, dtype, q, k, v, scale, o, lse):
    """Holds a kernel's o [row, head, head dim] and lse [head, row] against numpy and, with --reference, against Rust."""
    from emulation import difference
    expected = problem.numpy(*(dtype.decode(t) for t in (q, k, v)), scale)
    bound = OUTPUT_BOUND[dtype.name]
    errors = {'o': (difference(o, expected[0]), bound), 'lse': (difference(lse, expected[1]), LSE_BOUND)}
    window = problem.window
    mask = dict(left=window.left, right=window.right, origin=window.origin) if window else {}
    if problem.cap:
        mask['logits_soft_cap'] = problem.cap
    ours = checks.reference('attention', dict(q=q, k=k, v=v), ('o', 'lse'), dtype=dtype.name, heads=problem.heads,
                            kv_heads=problem.kv_heads, head_dim=q.shape[2], queries=','.join(map(str, problem.queries)),
                            keys=','.join(map(str, problem.keys)), scale=scale, **mask)
    if ours:
        errors['o against Rust'] = (difference(o, ours[0]), bound)
        errors['lse against Rust'] = (difference(lse, ours[1]), LSE_BOUND)
    checks.bound(f'{what} {problem}', **errors)
