"""Attention forward. All masks start at the bottom right, as upstream's: the last query is level with the last key."""
import math

from ._arrays import converted, empty, numbers, to_list
from ._dlpack import expect, pointer, stream_of, views
from ._errors import InvalidArgument, Unsupported, refuse
from ._library import AppendKv, attention_defaults, call, check

_DROPOUT = 'there is no dropout here; call with 0.0'
_PROBABILITIES = 'attention never holds them all; return_lse is there'
_ROUNDING = 'must be 1: bf16 is rounded to nearest here'
_PADDED = 'sequences of other lengths are flash_attn_varlen_func here, without rows between them'


def _refuse(dropout_p, bias=None, alibi_slopes=None, return_attn_probs=False, sink_ptr=None):
    refuse(dropout_p=(dropout_p, _DROPOUT), bias=(bias, 'there is none here'), alibi_slopes=(alibi_slopes, 'there is no ALiBi here'),
           return_attn_probs=(return_attn_probs, _PROBABILITIES), sink_ptr=(sink_ptr, 'there are no attention sinks here'))


def _window(window_size):
    """Its sides within what the library takes; any number beyond is all keys as well."""
    left, right, *sinks = window_size
    refuse(window_size=(any(sinks), 'there are no attention sinks here'))
    return tuple(max(-1, min(int(side), 2**31 - 1)) for side in (left, right))


class _Call:
    """A call of attention that can be checked before it is made."""

    def __init__(self, q, k, v, out, lse, tensors, max_seqlens, softmax_scale, logits_soft_cap, causal, window_size, descale=(1.0, 1.0, 1.0),
                 min_seqlen_q=0):
        self._seen = views(q=(q, False), k=(k, False), v=(v, False), out=(out, True), lse=(lse, True),
                           **{name: (tensor, False) for name, tensor in tensors.items()})
        if lse is None and self._seen['q'].is_gpu and len(q.shape) in (3, 4):
            # Kernels always write one: the caller's allocator has memory for it, the library would have to keep its own.
            self._lse = _dense_lse(q, True) if len(q.shape) == 4 else _varlen_lse(q, True)
            self._seen |= views(lse=(self._lse, True))
        self._stream = stream_of(self._seen['q'], q)
        arguments = attention_defaults()
        for name, view in self._seen.items():
            setattr(arguments, name, pointer(view))
        arguments.max_seqlen_q, arguments.max_seqlen_k = map(int, max_seqlens)
        arguments.min_seqlen_q = int(min_seqlen_q)
        if softmax_scale is not None:  # else the library's default
            if not math.isfinite(softmax_scale):
                raise InvalidArgument(f'softmax_scale: expected a finite number, found {softmax_scale}')
            arguments.softmax_scale = softmax_scale
        arguments.logits_soft_cap, arguments.causal = logits_soft_cap, bool(causal)
        arguments.window_left, arguments.window_right = _window(window_size)
        arguments.q_descale, arguments.k_descale, arguments.v_descale = descale
        self._arguments = arguments

    def check(self):
        check('check_attention', self._arguments)

    def make(self):
        call('attention', self._arguments, stream=self._stream)


def _attend(*arguments, **more):
    _Call(*arguments, **more).make()


def _result(out, lse):
    return out if lse is None else (out, lse)


def _dense_lse(q, wanted):
    return empty(q, (q.shape[0], q.shape[2], q.shape[1]), 'float32') if wanted and len(q.shape) == 4 else None


def _varlen_lse(q, wanted):
    return empty(q, (q.shape[1], q.shape[0]), 'float32') if wanted and len(q.shape) == 3 else None


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1, 0), bias=None, alibi_slopes=None,
                    deterministic=True, return_lse=False, return_attn_probs=False, how_v3_bf16_cvt=1, cu_seqlens_q=None, cu_seqlens_kv=None,
                    sink_ptr=None, num_splits=0, *, logits_soft_cap=0.0):
    """`softmax(q k^T) v` of `[batch, seqlen, heads, head_dim]`; k and v may have fewer heads (GQA, MQA).

    With return_lse also the logarithm of the softmax denominator, f32 `[batch, heads, seqlen_q]`. Every call is deterministic, and shared out as
    the card wants it: `deterministic` and `num_splits` change nothing.
    """
    _refuse(dropout_p, bias, alibi_slopes, return_attn_probs, sink_ptr)
    refuse(how_v3_bf16_cvt=(how_v3_bf16_cvt != 1, _ROUNDING), cu_seqlens_q=(cu_seqlens_q, _PADDED), cu_seqlens_kv=(cu_seqlens_kv, _PADDED))
    expect(q=q)
    out, lse = empty(q, q.shape), _dense_lse(q, return_lse)
    _attend(q, k, v, out, lse, {}, (0, 0), softmax_scale, logits_soft_cap, causal, window_size)
    return _result(out, lse)


def flash_attn_fp8_pertensor_func(q, k, v, q_descale, k_descale, v_descale, causal=False, window_size=(-1, -1), softmax_scale=None,
                                  out_dtype='bfloat16'):
    """flash_attn_func of float8_e4m3fn, each tensor with one factor (a number, or a tensor of one). gfx12 only, and the CPU.

    numpy knows no bfloat16 by itself: `out_dtype` may be a type of ml_dtypes, or float16.
    """
    expect(q=q)
    descale = [float(factor) for factor in (q_descale, k_descale, v_descale)]
    out = empty(q, q.shape, out_dtype)
    _attend(q, k, v, out, None, {}, (0, 0), softmax_scale, 0.0, causal, window_size, descale)
    return out


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, min_seqlen_q=0, dropout_p=0.0,
                           softmax_scale=None, logits_soft_cap=0.0, causal=False, window_size=(-1, -1, 0), bias=None, alibi_slopes=None,
                           deterministic=False, return_lse=False, return_attn_probs=False, how_v3_bf16_cvt=1, block_table=None, out=None,
                           cu_seqlens_q_padded=None, cu_seqlens_k_padded=None, sink_ptr=None):
    """The same of sequences of any length, one after the other: `[total, heads, head_dim]` with row offsets, int32 `[batch + 1]`.

    With a block_table, int32 `[batch, pages of a sequence]`, k and v are `[pages, page_rows, heads, head_dim]`. The LSE is `[heads, total_q]`.
    Sequences of `min_seqlen_q` queries or fewer are left out, and nothing writes their rows: of `out`, what another call computed there stays.
    """
    _refuse(dropout_p, bias, alibi_slopes, return_attn_probs, sink_ptr)
    refuse(how_v3_bf16_cvt=(how_v3_bf16_cvt != 1, _ROUNDING), cu_seqlens_q_padded=(cu_seqlens_q_padded, _PADDED),
           cu_seqlens_k_padded=(cu_seqlens_k_padded, _PADDED))
    expect(q=q)
    out = empty(q, q.shape) if out is None else out
    lse = _varlen_lse(q, return_lse)
    if block_table is None:
        tensors = {'cu_seqlens_q': cu_seqlens_q, 'cu_seqlens_k': cu_seqlens_k}
    else:
        expect(cu_seqlens_k=cu_seqlens_k)
        lengths = cu_seqlens_k[1:] - cu_seqlens_k[:-1]
        tensors = {'cu_seqlens_q': cu_seqlens_q, 'seqlens_k': lengths, 'block_table': block_table}
    _attend(q, k, v, out, lse, tensors, (max_seqlen_q, max_seqlen_k), softmax_scale, logits_soft_cap, causal, window_size,
            min_seqlen_q=min_seqlen_q)
    return _result(out, lse)


def mha_batch_prefill_func(q, k, v, cu_seqlens_q, kv_indptr, kv_page_indices, max_seqlen_q, max_seqlen_k, dropout_p=0.0,
                           softmax_scale=None, logits_soft_cap=0.0, causal=False, window_size=(-1, -1, 0), alibi_slopes=None,
                           deterministic=False, return_lse=False, return_attn_probs=False, out=None, kv_last_page_lens=None,
                           block_table=None, seqlen_k=None, sink_ptr=None):
    """Attention over pages: k and v are `[pages, page_rows, heads, head_dim]`.

    The pages of a sequence are `kv_page_indices[kv_indptr[i]:kv_indptr[i + 1]]` and the last one holds `kv_last_page_lens[i]` rows; or they are row i
    of `block_table`, and `seqlen_k[i]` says how many rows there are. The first form is turned into the second, which waits for a GPU. Pages hold 16 or
    more rows on a GPU.
    """
    _refuse(dropout_p, None, alibi_slopes, return_attn_probs, sink_ptr)
    expect(q=q, k=k)
    if len(k.shape) != 4:
        raise InvalidArgument(f'k: expected the shape [pages, page_rows, kv_heads, head_dim], found {list(k.shape)}')
    if block_table is None:
        block_table, seqlen_k = _block_table(q, k.shape, kv_indptr, kv_page_indices, kv_last_page_lens)
    elif seqlen_k is None:
        raise InvalidArgument('seqlen_k: expected a tensor beside block_table, found None')
    out = empty(q, q.shape) if out is None else out
    lse = _varlen_lse(q, return_lse)
    tensors = {'cu_seqlens_q': cu_seqlens_q, 'seqlens_k': seqlen_k, 'block_table': block_table}
    _attend(q, k, v, out, lse, tensors, (max_seqlen_q, max_seqlen_k), softmax_scale, logits_soft_cap, causal, window_size)
    return _result(out, lse)


def _block_table(like, pool, kv_indptr, kv_page_indices, kv_last_page_lens):
    expect(kv_indptr=kv_indptr, kv_page_indices=kv_page_indices)
    count, page_rows, *_ = pool
    first, pages = to_list(kv_indptr), to_list(kv_page_indices)
    if not first or sorted(first) != first or first[0] != 0 or first[-1] > len(pages):
        raise InvalidArgument(f'kv_indptr: expected offsets into {len(pages)} pages that start at 0 and never fall')
    rows = [pages[a:b] for a, b in zip(first, first[1:])]
    wild = [page for row in rows for page in row if not 0 <= page < count]
    if wild:
        raise InvalidArgument(f'kv_page_indices: expected pages below {count}, found {wild[0]}')
    if kv_last_page_lens is None and page_rows != 1:
        raise InvalidArgument('kv_last_page_lens: expected a tensor, found None')
    last = [1] * len(rows) if kv_last_page_lens is None else to_list(kv_last_page_lens)
    if len(last) != len(rows):
        raise InvalidArgument(f'kv_last_page_lens: expected {len(rows)} numbers, found {len(last)}')
    wild = [rest for row, rest in zip(rows, last) if row and not 1 <= rest <= page_rows]
    if wild:
        raise InvalidArgument(f'kv_last_page_lens: expected 1 to {page_rows} rows, found {wild[0]}')
    lengths = [(len(row) - 1) * page_rows + rest if row else 0 for row, rest in zip(rows, last)]
    width = max([len(row) for row in rows] + [1])
    return numbers([row + [0] * (width - len(row)) for row in rows], like), numbers(lengths, like)


def _filled(cache_seqlens, batch, capacity, added):
    """The keys that each sequence has, of a tensor, a number or None, with room for those that are added."""
    if cache_seqlens is None:
        filled = [capacity] * batch
    elif hasattr(cache_seqlens, 'tolist'):
        filled = to_list(cache_seqlens)
        filled = filled if isinstance(filled, list) else [filled] * batch
    else:
        filled = [int(cache_seqlens)] * batch
    if len(filled) != batch:
        raise InvalidArgument(f'cache_seqlens: expected {batch} numbers, found {len(filled)}')
    wild = [keys for keys in filled if not isinstance(keys, int) or not 0 <= keys <= capacity - added]
    if wild:
        raise InvalidArgument(f'cache_seqlens: expected 0 to {capacity - added}, which leaves room for {added} of {capacity} rows, found {wild[0]}')
    return filled


def flash_attn_with_kvcache(q, k_cache, v_cache, k=None, v=None, rotary_cos=None, rotary_sin=None, cache_seqlens=None, cache_batch_idx=None,
                            cache_leftpad=None, block_table=None, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
                            rotary_interleaved=True, alibi_slopes=None, num_splits=0, return_softmax_lse=False):
    """Appends k and v to a cache, rotating k (and q) on the way, and attends to what it holds then: flash-attention's function.

    q, k and v are `[batch, seqlen, heads, head_dim]`, the cache `[batch, capacity, heads, head_dim]` or, with a block_table, `[pages, page_rows, ...]`.
    `cache_seqlens` is a tensor, one number for all, or None for a cache that is full; the tables are `[positions, rotary_dim / 2]`. The queries follow
    what the cache held; without a mask all have the position of the first. A call that is refused leaves the cache as it was.
    """
    from .rope import rope_cached_positions_fwd
    _refuse(0.0, None, alibi_slopes)
    refuse(cache_batch_idx=(cache_batch_idx, 'sequence i is row i of the cache here'),
           cache_leftpad=(cache_leftpad, 'the keys of a sequence begin at row 0 of the cache here'))
    expect(q=q, k_cache=k_cache)
    for name, tensor, found in (('q', q, '[batch, seqlen, heads, head_dim]'), ('k_cache', k_cache, '[batch, capacity, kv_heads, head_dim]')):
        if len(tensor.shape) != 4:
            raise InvalidArgument(f'{name}: expected the shape {found}, found {list(tensor.shape)}')
    batch, rows, heads, head_dim = q.shape
    added = 0
    if k is not None or v is not None:
        expect(k=k, v=v)
        added = k.shape[1]
    capacity = k_cache.shape[1]
    if block_table is not None:
        expect(block_table=block_table)
        capacity *= block_table.shape[-1]
    filled = _filled(cache_seqlens, batch, capacity, added)
    lengths = [keys + added for keys in filled]
    is_masked = causal or any(side >= 0 for side in tuple(window_size)[:2])
    places = [[keys + (row if is_masked else 0) for keys in filled for row in range(rows)]]
    if rotary_cos is not None or rotary_sin is not None:
        expect(rotary_cos=rotary_cos, rotary_sin=rotary_sin)
        rotary_cos, rotary_sin = (converted(name, table, 'float32', 'float16', 'bfloat16')
                                  for name, table in (('rotary_cos', rotary_cos), ('rotary_sin', rotary_sin)))
        last = max(places[0] + [keys - 1 for keys in lengths if added], default=-1)
        if last >= rotary_cos.shape[0]:
            raise InvalidArgument(f'cache_seqlens: expected positions below the {rotary_cos.shape[0]} of rotary_cos, found {last}')

    # Both steps are checked before the first one changes the cache.
    out = empty(q, q.shape)
    lse = empty(q, (heads, batch * rows), 'float32') if return_softmax_lse else None
    # Without a block table each row of the cache is one page.
    table = numbers([[i] for i in range(batch)], q) if block_table is None else block_table
    tensors = {'cu_seqlens_q': numbers([i * rows for i in range(batch + 1)], q), 'seqlens_k': numbers(lengths, q), 'block_table': table}

    def attend(q):
        flat_q, flat_out = (tensor.reshape(batch * rows, heads, head_dim) for tensor in (q, out))
        return _Call(flat_q, k_cache, v_cache, flat_out, lse, tensors, (rows, max(lengths + [0])), softmax_scale, softcap, causal, window_size)

    attention = attend(q)
    try:
        attention.check()
    except Unsupported as error:
        if block_table is None and str(error).startswith('page_rows: '):
            raise Unsupported(f'k_cache: its capacity of {str(error)[len("page_rows: "):]}') from None
        raise
    style = 1 if rotary_interleaved else 0
    if added:
        seen = views(k_cache=(k_cache, True), v_cache=(v_cache, True), k=(k, False), v=(v, False), cache_seqlens=(numbers(filled, q), False),
                     block_table=(block_table, False), cos=(rotary_cos, False), sin=(rotary_sin, False))
        arguments = AppendKv(**{name: pointer(view) for name, view in seen.items()}, rotate_style=style, nope_first=False)
        call('append_kv', arguments, stream=stream_of(seen['k_cache'], k_cache))
    if rotary_cos is not None:
        row = q.reshape(1, batch * rows, heads, head_dim)
        attention = attend(rope_cached_positions_fwd(row, rotary_cos, rotary_sin, numbers(places, q), style, True, False))
    attention.make()
    if lse is None:
        return out
    return out, lse.reshape(heads, batch, rows).swapaxes(0, 1)
