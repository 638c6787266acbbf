"""The Python package on the host, against numpy's and scipy's formulas in double precision. Needs numpy, scipy and ml_dtypes.

It imports `aiter_kernels` from wherever it is: the sources with a library of cargo's (tests/python.rs), or an installed wheel (xtask's test of it).
"""
import inspect
import os
import signal
import subprocess
import sys

import ml_dtypes
import numpy as np
import scipy.special

import aiter_kernels as ak
from fake_torch import Gpu

rng = np.random.default_rng(7)
BF16, E4M3 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
# One step of rounding, relative; f32 has that of its sums.
STEP = {np.dtype(np.float32): 4e-6, np.dtype(np.float16): 2**-11 * 1.01, np.dtype(BF16): 2**-8 * 1.01}
FLOATS = (np.float32, np.float16, BF16)
checked = 0


def numbers(shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def wide(x):
    return np.asarray(x).astype(np.float64)


def close(found, expected, what, extra=0.0):
    global checked
    assert found.shape == expected.shape, f'{what}: {found.shape} against {expected.shape}'
    step = STEP[found.dtype]
    with np.errstate(invalid='ignore'):
        error = np.abs(wide(found) - expected)
    bound = step * np.abs(expected) + 3e-6 + extra
    same = (wide(found) == expected) | (error <= bound)
    assert same.all(), f'{what}: off by {np.nanmax(np.where(same, 0, error)):.3g}'
    checked += 1


def raises(kind, message, call):
    global checked
    try:
        call()
    except kind as error:
        assert str(error).startswith(message), f'expected {message!r}, found {str(error)!r}'
        checked += 1
        return
    raise AssertionError(f'not refused: {message}')


def check_activations():
    for dtype in FLOATS:
        for shape in ((3, 300), (2, 5, 1), (0, 4), (1, 2048)):
            x = numbers((*shape[:-1], 2 * shape[-1]), dtype) * dtype(3)
            gate, up = wide(x[..., :shape[-1]]), wide(x[..., shape[-1]:])
            inner = np.sqrt(2 / np.pi) * (gate + 0.044715 * gate**3)
            for function, expected in ((ak.silu_and_mul, gate * scipy.special.expit(gate)),
                                       (ak.gelu_and_mul, gate * scipy.special.ndtr(gate)),
                                       (ak.gelu_tanh_and_mul, 0.5 * gate * (1 + np.tanh(inner)))):
                out = np.empty(shape, dtype)
                function(out, x)
                close(out, expected * up, f'{function.__name__} {np.dtype(dtype)} {shape}')


def check_norms():
    for dtype in FLOATS:
        for shape in ((3, 300), (2, 4, 7), (1, 4096)):
            x, residual = numbers(shape, dtype), numbers(shape, dtype)
            weight, bias = numbers(shape[-1:], dtype), numbers(shape[-1:], dtype)

            def rms(x):
                return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * wide(weight)

            def layer(x):
                return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * wide(weight) + wide(bias)

            close(ak.rms_norm(x, weight, 1e-6), rms(wide(x)), f'rms_norm {shape}')
            close(ak.layer_norm(x, weight, bias), layer(wide(x)), f'layer_norm {shape}')
            close(ak.layer_norm(x), (layer(wide(x)) - wide(bias)) / wide(weight), f'layer_norm without weight {shape}')
            close(ak.softmax(x), scipy.special.softmax(wide(x), axis=-1), f'softmax {shape}')
            total = (x.astype(np.float32) + residual.astype(np.float32)).astype(dtype)
            for with_add, expected, more in ((ak.rmsnorm2d_fwd_with_add, rms, (weight, 1e-6)),
                                             (ak.layernorm2d_fwd_with_add, layer, (weight, bias, 1e-5))):
                out, residual_out, before = np.empty_like(x), np.empty_like(x), residual.copy()
                with_add(out, x, residual, residual_out, *more)
                close(out, expected(wide(total)), f'{with_add.__name__} {shape}')
                assert (residual_out == total).all() and (residual == before).all()
                in_place = x.copy()
                with_add(out, in_place, residual, in_place, *more)
                close(out, expected(wide(total)), f'{with_add.__name__} {shape} over the input')
                assert (in_place == total).all()


def attention(q, k, v, scale, causal=False, window=(-1, -1), cap=0.0):
    """One sequence: [rows, heads, head_dim]; the output and the LSE [heads, rows]."""
    q, k, v = wide(q), wide(k), wide(v)
    share = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, share, 1), np.repeat(v, share, 1)
    scores = np.einsum('qhd,khd->hqk', q, k) * scale
    if cap:
        scores = cap * np.tanh(scores / cap)
    row, key = np.arange(q.shape[0])[:, None] + k.shape[0] - q.shape[0], np.arange(k.shape[0])[None]
    left, right = window[0], 0 if causal else window[1]
    seen = ((left < 0) | (key >= row - left)) & ((right < 0) | (key <= row + right))
    scores = np.where(seen, scores, -np.inf)
    with np.errstate(invalid='ignore', divide='ignore'):
        lse = scipy.special.logsumexp(scores, axis=-1) if k.shape[0] else np.full(scores.shape[:2], -np.inf)
        weights = np.nan_to_num(np.exp(scores - lse[..., None]))
    return np.einsum('hqk,khd->qhd', weights, v), lse


OPTIONS = ({}, {'causal': True}, {'window_size': (3, 2)}, {'causal': True, 'window_size': (4, -1)}, {'logits_soft_cap': 0.8},
           {'softmax_scale': 0.3, 'causal': True, 'logits_soft_cap': 2.0})


def expected_options(options, head_dim):
    return {'scale': options.get('softmax_scale', head_dim**-0.5), 'causal': options.get('causal', False),
            'window': options.get('window_size', (-1, -1)), 'cap': options.get('logits_soft_cap', 0.0)}


def check_dense_attention():
    for dtype in FLOATS:
        for rows, keys, heads, kv_heads, d in ((5, 5, 2, 2, 32), (3, 9, 4, 2, 64), (9, 3, 4, 1, 96), (1, 17, 2, 1, 128)):
            q, k, v = numbers((2, rows, heads, d), dtype), numbers((2, keys, kv_heads, d), dtype), numbers((2, keys, kv_heads, d), dtype)
            for options in OPTIONS:
                out, lse = ak.flash_attn_func(q, k, v, return_lse=True, **options)
                for i in range(2):
                    o, l = attention(q[i], k[i], v[i], **expected_options(options, d))
                    close(out[i], o, f'flash_attn_func {np.dtype(dtype)} {options}')
                    close(lse[i], l, f'LSE {options}')


def varlen(dtype, lengths, heads=4, kv_heads=2, d=64):
    queries, keys = zip(*lengths)
    q = numbers((sum(queries), heads, d), dtype)
    k, v = numbers((sum(keys), kv_heads, d), dtype), numbers((sum(keys), kv_heads, d), dtype)
    return q, k, v, np.cumsum([0, *queries], dtype=np.int32), np.cumsum([0, *keys], dtype=np.int32)


def check_varlen_and_paged_attention():
    lengths = ((3, 21), (1, 0), (0, 5), (4, 16), (20, 2))
    for dtype in FLOATS:
        q, k, v, cu_q, cu_k = varlen(dtype, lengths)
        for options in OPTIONS:
            out, lse = ak.flash_attn_varlen_func(q, k, v, cu_q, cu_k, 20, 21, return_lse=True, **options)
            for i in range(len(lengths)):
                rows, keys = slice(cu_q[i], cu_q[i + 1]), slice(cu_k[i], cu_k[i + 1])
                o, l = attention(q[rows], k[keys], v[keys], **expected_options(options, 64))
                close(out[rows], o, f'varlen {i} {options}')
                close(lse[:, rows], l, f'varlen LSE {i} {options}')
            for page_rows in (16, 8):
                paged = scatter(k, v, cu_k, page_rows)
                found, paged_lse = ak.mha_batch_prefill_func(q, paged.k, paged.v, cu_q, paged.indptr, paged.indices, 20, 21,
                                                             kv_last_page_lens=paged.last, return_lse=True, **options)
                assert (found == out).all() and (paged_lse == lse).all(), 'paged is varlen after gather'
                found = ak.flash_attn_varlen_func(q, paged.k, paged.v, cu_q, cu_k, 20, 21, block_table=paged.table, **options)
                assert (found == out).all(), 'a block table says the same'
        # A caller that has computed the short ones already: their rows stay.
        for table in ((k, v, {}), (paged.k, paged.v, {'block_table': paged.table})):
            kept = np.full_like(q, 7)
            ak.flash_attn_varlen_func(q, *table[:2], cu_q, cu_k, 20, 21, 3, out=kept, **OPTIONS[-1], **table[2])
            assert (kept[:4] == 7).all() and (kept[4:] == out[4:]).all(), 'sequences of 3 and 1 queries are left out'


class scatter:
    """Packed keys in pages that do not follow each other."""

    def __init__(self, k, v, cu, page_rows):
        counts = [-(-int(b - a) // page_rows) for a, b in zip(cu, cu[1:])]
        order = rng.permutation(sum(counts) + 2)[:sum(counts)].astype(np.int32)
        self.indptr = np.cumsum([0, *counts], dtype=np.int32)
        self.indices = order
        self.last = np.array([int(b - a) - (n - 1) * page_rows if n else 0 for a, b, n in zip(cu, cu[1:], counts)], np.int32)
        self.table = np.zeros((len(counts), max(counts)), np.int32)
        self.k, self.v = (np.full((sum(counts) + 2, page_rows, *k.shape[1:]), np.nan, k.dtype) for _ in range(2))
        for i, (first, last) in enumerate(zip(cu, cu[1:])):
            pages = order[self.indptr[i]:self.indptr[i + 1]]
            self.table[i, :len(pages)] = pages
            for j in range(int(last - first)):
                self.k[pages[j // page_rows], j % page_rows] = k[first + j]
                self.v[pages[j // page_rows], j % page_rows] = v[first + j]


def check_fp8_attention():
    q, k, v = (numbers((1, 6, 2, 32)).astype(E4M3) for _ in range(3))
    out = ak.flash_attn_fp8_pertensor_func(q, k, v, 0.5, np.float32(2.0), np.array([3.0], np.float32)[0], causal=True)
    assert out.dtype == BF16
    o, _ = attention(q[0], k[0], v[0], 32**-0.5, causal=True)
    close(out[0], o * 3.0, 'flash_attn_fp8_pertensor_func')


def rotate(x, cos, sin, positions, style, nope_first):
    """x: [s, b, h, d]."""
    x, cos, sin = wide(x).copy(), wide(cos)[positions][:, :, None], wide(sin)[positions][:, :, None]
    dim = 2 * cos.shape[-1]
    part = x[..., x.shape[-1] - dim:] if nope_first else x[..., :dim]
    a, b = (part[..., :dim // 2], part[..., dim // 2:]) if style == 0 else (part[..., 0::2], part[..., 1::2])
    turned = a * cos - b * sin, b * cos + a * sin
    a[...], b[...] = turned
    return x


def tables(positions, dim, dtype):
    angles = np.arange(positions)[:, None] / 10000 ** (np.arange(dim // 2) / (dim // 2))
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def check_rope():
    for dtype in FLOATS:
        for dim, d in ((64, 64), (32, 96)):
            x = numbers((5, 2, 3, d), dtype)
            cos, sin = tables(40, dim, dtype)
            positions = rng.integers(0, 40, (5, 2))
            for style in (0, 1):
                for nope_first in (False, True):
                    expected = rotate(x, cos, sin, positions, style, nope_first)
                    what = f'rope {np.dtype(dtype)} {dim}/{d} {style} {nope_first}'
                    found = ak.rope_cached_positions_fwd(x, cos[:, None, None], sin[:, None, None], positions, style, True, nope_first)
                    close(found, expected, what)
                    a, b = x.copy(), x[:, :, :1].copy()
                    ak.rope_cached_positions_2c_fwd_inplace(a, b, cos, sin, positions, style, True, nope_first)
                    assert (a == found).all() and (b == found[:, :, :1]).all(), what
                    own = np.broadcast_to(np.arange(5)[:, None], (5, 2))
                    close(ak.rope_cached_fwd(x, cos, sin, style, True, nope_first), rotate(x, cos, sin, own, style, nope_first), what)


def check_quantisation():
    for dtype in FLOATS:
        x = numbers((7, 130), dtype)
        x[3] = 0
        for quant_dtype, largest in ((np.int8, 127.0), (E4M3, 448.0)):
            out, scales = ak.pertoken_quant(x, quant_dtype=quant_dtype)
            expected = np.abs(x.astype(np.float32)).max(-1, keepdims=True) / np.float32(largest)
            expected[expected == 0] = 1
            assert (scales == expected).all() and scales.dtype == np.float32
            scaled = x.astype(np.float32) / expected
            rounded = np.rint(scaled).astype(np.int8) if quant_dtype is np.int8 else scaled.astype(E4M3)
            assert (out.view(np.uint8) == rounded.view(np.uint8)).all(), f'{np.dtype(dtype)} to {np.dtype(quant_dtype)}'
    every = np.arange(256, dtype=np.uint8).view(E4M3)
    numbers_of = every[np.isfinite(wide(every))]
    between = (wide(numbers_of)[:, None] * np.array([0.94, 0.97, 1.0, 1.03, 1.06])).astype(np.float32).reshape(1, -1)
    between = np.clip(between, -448, 448)
    out, scale = ak.pertoken_quant(between, quant_dtype=E4M3)
    assert scale[0, 0] == 1 and (out.view(np.uint8) == between.astype(E4M3).view(np.uint8)).all(), 'every e4m3 number and its neighbours'


def check_kv_cache():
    for dtype in FLOATS:
        for interleaved in (False, True):
            for pages in (False, True):
                k_cache, v_cache = numbers((2, 32, 2, 64), dtype), numbers((2, 32, 2, 64), dtype)
                k, v, q = numbers((2, 3, 2, 64), dtype), numbers((2, 3, 2, 64), dtype), numbers((2, 3, 4, 64), dtype)
                filled = np.array([5, 20], np.int32)
                cos, sin = tables(32, 64, dtype)
                full_k, full_v = k_cache.copy(), v_cache.copy()
                places = filled[None] + np.arange(3)[:, None]
                style = 1 if interleaved else 0
                turned = rotate(k.swapaxes(0, 1), cos, sin, places, style, False).swapaxes(0, 1).astype(dtype)
                turned_q = rotate(q.swapaxes(0, 1), cos, sin, places, style, False).swapaxes(0, 1).astype(dtype)
                for i, first in enumerate(filled):
                    full_k[i, first:first + 3], full_v[i, first:first + 3] = turned[i], v[i]
                block_table = None
                if pages:  # the same rows, in pages of 16 in another order
                    block_table = np.array([[2, 1], [3, 0]], np.int32)
                    cut = [np.empty((4, 16, 2, 64), dtype) for _ in range(2)]
                    for cache, whole in zip(cut, (k_cache, v_cache)):
                        for i in range(2):
                            cache[block_table[i]] = whole[i].reshape(2, 16, 2, 64)
                    k_cache, v_cache = cut
                out = ak.flash_attn_with_kvcache(q, k_cache, v_cache, k, v, cos, sin, filled, block_table=block_table, causal=True,
                                                 rotary_interleaved=interleaved)
                if pages:
                    k_cache, v_cache = (cache[block_table].reshape(2, 32, 2, 64) for cache in (k_cache, v_cache))
                close(k_cache, wide(full_k), 'appended keys', extra=STEP[np.dtype(dtype)] * 4)
                assert (v_cache == full_v).all()
                for i, first in enumerate(filled):
                    o, _ = attention(turned_q[i], full_k[i, :first + 3], full_v[i, :first + 3], 0.125, causal=True)
                    close(out[i], o, 'flash_attn_with_kvcache', extra=STEP[np.dtype(dtype)] * 4)


def check_a_refused_cache_is_as_it_was():
    q, k = numbers((2, 3, 4, 64), np.float16), numbers((2, 3, 2, 64), np.float16)
    filled, (cos, sin) = np.array([5, 20], np.int32), tables(32, 64, np.float32)
    fits = {'q': q, 'k': k, 'v': k, 'rotary_cos': cos, 'rotary_sin': sin, 'cache_seqlens': filled, 'causal': True}
    invalid, unsupported = ak.InvalidArgument, ak.Unsupported
    for kind, message, change in ((invalid, 'cache_seqlens: expected 0 to 29', {'cache_seqlens': np.array([5, 30], np.int32)}),
                                  (invalid, 'cache_seqlens: expected 0 to 29', {'cache_seqlens': np.array([-1, 0], np.int32)}),
                                  (invalid, 'cache_seqlens: expected 0 to 29', {'cache_seqlens': None}),
                                  (invalid, 'cache_seqlens: expected 0 to 29', {'cache_seqlens': np.array([5.0, 20.5])}),
                                  (invalid, 'cache_seqlens: expected 2 numbers, found 1', {'cache_seqlens': filled[:1]}),
                                  (invalid, 'cache_seqlens: expected positions below the 22 of rotary_cos, found 22',
                                   {'rotary_cos': cos[:22], 'rotary_sin': sin[:22]}),
                                  (invalid, 'q: expected the shape', {'q': q[0]}),
                                  (invalid, 'k: expected f32, found f16', {'q': q.astype(np.float32)}),
                                  (invalid, 'k: expected as many heads as divide the 3 of q', {'q': q[:, :, :3]}),
                                  (invalid, 'k: expected the shape', {'q': q[..., :32]}),
                                  (invalid, 'v: expected the shape', {'v': k[:, :2]}),
                                  (invalid, 'v: expected a tensor', {'v': None}),
                                  (invalid, 'softmax_scale: ', {'softmax_scale': float('nan')}),
                                  (invalid, 'logits_soft_cap: ', {'softcap': -1.0}),
                                  (unsupported, 'window_size: ', {'window_size': (1, 1, 1)}),
                                  (unsupported, 'cache_leftpad: ', {'cache_leftpad': filled}),
                                  (unsupported, 'alibi_slopes: ', {'alibi_slopes': np.ones(4, np.float32)})):
        cache = numbers((2, 2, 32, 2, 64), np.float16)
        before = cache.copy()
        raises(kind, message, lambda: ak.flash_attn_with_kvcache(k_cache=cache[0], v_cache=cache[1], **(fits | change)))
        assert (cache == before).all(), message
    cache = numbers((2, 2, 32, 2, 64), np.float16)
    whole = ak.flash_attn_with_kvcache(q, *cache)
    for same in (32, np.array([32, 32], np.int32), np.int64(32)):
        assert (ak.flash_attn_with_kvcache(q, *cache, cache_seqlens=same) == whole).all(), 'one length for all'
    assert (whole == ak.flash_attn_func(q, *cache)).all()


# What upstream's callers pass by position: aiter's ops/mha.py, and flash-attention's flash_attn_with_kvcache.
SIGNATURES = {
    ak.flash_attn_func: 'q k v dropout_p softmax_scale causal window_size bias alibi_slopes deterministic return_lse return_attn_probs '
                        'how_v3_bf16_cvt cu_seqlens_q cu_seqlens_kv sink_ptr num_splits',
    ak.flash_attn_varlen_func: 'q k v cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k min_seqlen_q dropout_p softmax_scale logits_soft_cap '
                               'causal window_size bias alibi_slopes deterministic return_lse return_attn_probs how_v3_bf16_cvt block_table out '
                               'cu_seqlens_q_padded cu_seqlens_k_padded sink_ptr',
    ak.mha_batch_prefill_func: 'q k v cu_seqlens_q kv_indptr kv_page_indices max_seqlen_q max_seqlen_k dropout_p softmax_scale logits_soft_cap '
                               'causal window_size alibi_slopes deterministic return_lse return_attn_probs out',
    ak.flash_attn_with_kvcache: 'q k_cache v_cache k v rotary_cos rotary_sin cache_seqlens cache_batch_idx cache_leftpad block_table '
                                'softmax_scale causal window_size softcap rotary_interleaved alibi_slopes num_splits return_softmax_lse',
}


def check_signatures():
    for function, names in SIGNATURES.items():
        parameters = inspect.signature(function).parameters.values()
        found = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert found[:len(names.split())] == names.split(), (function.__name__, found)
    q, cu = numbers((1, 5, 2, 64), np.float16), np.array([0, 5], np.int32)
    dense, packed = (q, q, q), (q[0], q[0], q[0], cu, cu, 5, 5)
    for function, fits, refused in ((ak.flash_attn_func, dense, {'how_v3_bf16_cvt': 2, 'cu_seqlens_q': cu, 'cu_seqlens_kv': cu}),
                                    (ak.flash_attn_varlen_func, packed, {'how_v3_bf16_cvt': 0, 'cu_seqlens_q_padded': cu,
                                                                         'cu_seqlens_k_padded': cu})):
        for name, value in refused.items():
            raises(ak.Unsupported, f'{name}: ', lambda: function(*fits, **{name: value}))
    plain = ak.flash_attn_func(*dense)
    nothing = {'dropout_p': np.float32(0), 'return_attn_probs': np.bool_(False), 'window_size': (2**32, 2**40, 0)}
    assert (ak.flash_attn_func(*dense, **nothing) == plain).all(), 'what says nothing changes nothing'
    mean = wide(q[0]).mean(0)
    close(ak.flash_attn_func(*dense, softmax_scale=0.0)[0, 0], mean, 'a scale of 0')


def check_a_child_of_fork_computes():
    if not hasattr(os, 'fork'):
        return
    x, out = numbers((64, 600)), np.empty((64, 300), np.float32)
    ak.silu_and_mul(out, x)
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends it where it waits for threads of its parent
        again = np.empty_like(out)
        ak.silu_and_mul(again, x)
        os._exit(0 if (again == out).all() else 1)
    assert os.waitpid(child, 0)[1] == 0, 'the child computes the same'


def check_the_environment():
    environment = os.environ | {'AITER_KERNELS': '/nowhere'}
    said = subprocess.run([sys.executable, '-c', 'import aiter_kernels'], env=environment, capture_output=True, text=True)
    assert 'ImportError: AITER_KERNELS: there is no folder /nowhere' in said.stderr, said.stderr
    if sys.platform == 'linux':
        environment = os.environ | {'AITER_KERNELS_LIBRARY': next(line.split()[-1] for line in open('/proc/self/maps') if '/libc.so' in line)}
        said = subprocess.run([sys.executable, '-c', 'import aiter_kernels'], env=environment, capture_output=True, text=True)
        assert 'its interface has the version 1, this package is for 2; take both from one release' in said.stderr, said.stderr


def check_what_is_no_number():
    q = numbers((1, 2, 1, 32), np.float16)
    q[0, 0, 0, 3] = np.nan
    out, lse = ak.flash_attn_func(q, np.abs(q[:, 1:]), np.abs(q[:, 1:]), return_lse=True)
    assert np.isnan(out[0, 0]).all() and np.isnan(lse[0, 0, 0]) and np.isfinite(wide(out[0, 1])).all()


def check_calls_on_a_gpu():
    with Gpu() as gpu:
        tensor = gpu.Tensor
        cos, sin = (tensor(table) for table in tables(32, 64, np.float16))
        q, k, filled = tensor(numbers((2, 3, 4, 64), np.float16)), tensor(numbers((2, 3, 2, 64), np.float16)), tensor(np.array([5, 20], np.int64))
        cache = [tensor(numbers((2, 32, 2, 64), np.float16)) for _ in range(2)]
        whole = {'k': k, 'v': k, 'rotary_cos': cos, 'rotary_sin': sin, 'causal': True}
        ak.flash_attn_with_kvcache(q, *cache, cache_seqlens=filled, **whole)
        assert gpu.calls[-1][1][0].lse, 'the memory that kernels write an LSE to is the allocator of the caller'
        assert gpu.made() == ['check_attention', 'append_kv', 'rope', 'attention'], 'batch and rows are one for RoPE'
        for wild, changed in ((30, {}), (-1, {}), (29, {'rotary_cos': tensor(cos.array[:31]), 'rotary_sin': tensor(sin.array[:31])})):
            lengths = tensor(np.array([0, wild], np.int32))
            raises(ak.InvalidArgument, 'cache_seqlens: ', lambda: ak.flash_attn_with_kvcache(q, *cache, cache_seqlens=lengths, **(whole | changed)))
            assert gpu.made() == [], 'nothing is launched'

        def refuse(function, *_):
            raise ak.Unsupported('page_rows: 40 is no multiple of 16, the smallest tile')

        sys.modules['aiter_kernels.attention'].check = refuse
        raises(ak.Unsupported, 'k_cache: its capacity of 40 is no multiple of 16', lambda: ak.flash_attn_with_kvcache(q, *cache, **whole, cache_seqlens=filled))
        assert gpu.made() == []

        x, positions = tensor(numbers((5, 2, 3, 64), np.float16)), tensor(np.zeros((5, 2), np.int64))
        ak.rope_cached_fwd(x, cos, sin, 0, True, False)
        ak.rope_cached_positions_fwd_inplace(x, cos, sin, positions, 0, True, False)
        assert gpu.made() == ['rope'] * 2, "tables of q's type, positions of int64, and none"
        ak.flash_attn_func(q, k, k)
        assert gpu.calls[-1][1][0].lse and gpu.made() == ['attention']

        for name in 'qkv':
            graded = tensor(numbers((2, 3, 4, 64), np.float16))
            graded.requires_grad = True
            raises(ak.Unsupported, f'{name}: requires a gradient', lambda: ak.flash_attn_func(**({'q': q, 'k': q, 'v': q} | {name: graded})))
        sys.modules['torch'].is_grad_enabled = lambda: False
        own = type('Own', (tensor,), {'__module__': 'mine'})(q.array)
        own.requires_grad = True
        assert isinstance(ak.flash_attn_func(own, k, k), tensor), 'classes that others make of tensors'


class Old:
    """A producer that knows no DLPack versions."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Broken(Old):
    """A producer that has nothing to give."""

    shape, dtype = (2, 7, 2, 64), np.dtype(np.float16)

    def __dlpack__(self, stream=None):
        raise BufferError('there is no memory behind it')


def check_views():
    qkv = numbers((2, 5, 3, 4, 64), np.float16)
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    whole = ak.flash_attn_func(*(np.ascontiguousarray(x) for x in (q, k, v)), causal=True)
    assert (ak.flash_attn_func(q, k, v, causal=True) == whole).all(), 'views of one tensor'
    assert (ak.flash_attn_func(q, Old(k), Old(v), causal=True) == whole).all(), 'capsules without a version'
    frozen = q.copy()
    frozen.flags.writeable = False
    try:
        assert (ak.flash_attn_func(frozen, k, v, causal=True) == whole).all()
    except ak.InvalidArgument as error:  # numpy before 2.1 exports no array that is read-only
        assert str(error).startswith('q: '), error


def check_refusals():
    q, k = numbers((2, 5, 4, 64), np.float16), numbers((2, 7, 2, 64), np.float16)
    out, two = np.empty((3, 8), np.float32), numbers((3, 16))
    cu = np.array([0, 5], np.int32)
    invalid, unsupported = ak.InvalidArgument, ak.Unsupported
    raises(unsupported, 'dropout_p: ', lambda: ak.flash_attn_func(q, k, k, dropout_p=0.1))
    raises(unsupported, 'alibi_slopes: ', lambda: ak.flash_attn_func(q, k, k, alibi_slopes=np.ones(4, np.float32)))
    raises(unsupported, 'bias: ', lambda: ak.flash_attn_func(q, k, k, bias=np.ones(4)))
    raises(unsupported, 'return_attn_probs: ', lambda: ak.flash_attn_func(q, k, k, return_attn_probs=True))
    raises(unsupported, 'reuse_freqs_front_part: ', lambda: ak.rope_cached_fwd(q, k, k, 0, False, False))
    raises(invalid, 'k: expected the shape [2, 7, 2, 64], found [2, 7, 2, 32]', lambda: ak.flash_attn_func(q, k[..., :32], k))
    raises(invalid, 'v: expected f16, found f32', lambda: ak.flash_attn_func(q, k, k.astype(np.float32)))
    raises(invalid, 'q: its element type', lambda: ak.flash_attn_func(q.astype(np.float64), k, k))
    raises(invalid, 'q: expected a contiguous last dimension', lambda: ak.flash_attn_func(q.swapaxes(2, 3), k, k))
    raises(invalid, 'k: expected a tensor with __dlpack__, found list', lambda: ak.flash_attn_func(q, [1.0], k))
    raises(invalid, 'k: expected as many heads as divide the 4 of q, found 3', lambda: ak.flash_attn_func(q, *[numbers((2, 7, 3, 64), np.float16)] * 2))
    raises(invalid, 'out: expected the shape [5, 4, 64], found [4, 4, 64]',
           lambda: ak.flash_attn_varlen_func(q[0], k[0], k[0], cu, np.array([0, 7], np.int32), 5, 7, out=q[0][:4]))
    raises(invalid, 'max_seqlen_k: expected at least 7', lambda: ak.flash_attn_varlen_func(q[0], k[0], k[0], cu, np.array([0, 7], np.int32), 5, 6))
    raises(invalid, 'cu_seqlens_q: expected i32, found i64',
           lambda: ak.flash_attn_varlen_func(q[0], k[0], k[0], cu.astype(np.int64), np.array([0, 7], np.int32), 5, 7))
    raises(invalid, 'input: expected the shape [3, 16], found [3, 8]', lambda: ak.silu_and_mul(out, two[:, :8]))
    raises(invalid, 'weight: expected the shape [16], found [8]', lambda: ak.rms_norm(two, two[0, :8], 1e-6))
    raises(invalid, 'rotate_style: expected 0 (NEOX) or 1 (GPT-J), found 2', lambda: ak.rope_cached_fwd(q, *[numbers((9, 32))] * 2, 2, True, False))
    raises(invalid, 'k: expected the shape [pages, page_rows, kv_heads, head_dim]', lambda: ak.mha_batch_prefill_func(q[0], k[0], k[0], cu, cu, cu, 5, 7))
    raises(invalid, 'kv_indptr: ', lambda: ak.mha_batch_prefill_func(q[0], k, k, cu, np.array([0, 9], np.int32), cu, 5, 7, kv_last_page_lens=cu[1:]))
    wild = np.array([[5]], np.int32)
    raises(invalid, 'block_table: expected pages below 2, found 5',
           lambda: ak.mha_batch_prefill_func(q[0], k, k, cu, None, None, 5, 7, block_table=wild, seqlen_k=np.array([7], np.int32)))
    pages, two_pages = np.array([1, 0], np.int32), np.array([0, 2], np.int32)
    for indptr, indices, last, message in ((np.array([], np.int32), pages, cu[1:], 'kv_indptr: '),
                                           (two_pages, np.array([0, 2], np.int32), cu[1:], 'kv_page_indices: expected pages below 2, found 2'),
                                           (two_pages, np.array([-1, 0], np.int32), cu[1:], 'kv_page_indices: '),
                                           (two_pages, pages, np.array([0], np.int32), 'kv_last_page_lens: expected 1 to 7 rows, found 0'),
                                           (two_pages, pages, np.array([8], np.int32), 'kv_last_page_lens: '),
                                           (two_pages, pages, np.array([1, 1], np.int32), 'kv_last_page_lens: expected 1 numbers, found 2')):
        raises(invalid, message, lambda: ak.mha_batch_prefill_func(q[0], k, k, cu, indptr, indices, 5, 14, kv_last_page_lens=last))
    raises(invalid, 'q: expected a tensor with __dlpack__, found list', lambda: ak.flash_attn_func([1.0], k, k))
    raises(invalid, 'k: there is no', lambda: ak.flash_attn_func(q, Broken(k), k))
    residual = numbers((3, 16))
    for change, message in (((residual[:1], residual), 'residual_in: expected the shape [3, 16], found [1, 16]'),
                            ((residual.astype(np.float16), residual), 'residual_in: expected f32, found f16'),
                            ((residual, residual[:, :8]), 'residual_out: expected the shape')):
        before = residual.copy()
        raises(invalid, message, lambda: ak.rmsnorm2d_fwd_with_add(np.empty_like(two), two, *change, two[0], 1e-6))
        assert (residual == before).all()
    for writes in (lambda x: ak.silu_and_mul(x, two),):
        frozen = np.empty((3, 8), np.float32)
        frozen.flags.writeable = False
        raises(invalid, 'out: ', lambda: writes(frozen))


if __name__ == '__main__':
    assert ak.__version__ and set(ak.__all__) <= set(dir(ak))
    for name, check in [(name, value) for name, value in globals().items() if name.startswith('check_')]:
        check()
    print(f'{checked} comparisons with numpy {np.__version__} and scipy {scipy.__version__}, {ak.__file__}', file=sys.stderr)
    print('ok')
