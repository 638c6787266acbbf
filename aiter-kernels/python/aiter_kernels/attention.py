"""Attention forward. All masks start at the bottom right, as upstream's: the last query is level with the last key."""
from ._arrays import copy_into, empty, numbers, to_list
from ._dlpack import pointer, stream_of, views
from ._errors import InvalidArgument, refuse
from ._library import AppendKv, attention_defaults, call

_DROPOUT = 'there is no dropout here; call with 0.0'
_PROBABILITIES = 'attention never holds them all; return_lse is there'


def _refuse(dropout_p, bias=None, alibi_slopes=None, return_attn_probs=False, sink_ptr=None):
    refuse(dropout_p=(dropout_p, _DROPOUT), bias=(bias, 'there is none here'), alibi_slopes=(alibi_slopes, 'there is no ALiBi here'),
           return_attn_probs=(return_attn_probs, _PROBABILITIES), sink_ptr=(sink_ptr, 'there are no attention sinks here'))


def _window(window_size):
    left, right, *sinks = window_size
    refuse(window_size=(any(sinks), 'there are no attention sinks here'))
    return left, right


def _attend(q, k, v, out, lse, tensors, max_seqlens, softmax_scale, logits_soft_cap, causal, window_size, descale=(1.0, 1.0, 1.0)):
    seen = views(q=(q, False), k=(k, False), v=(v, False), out=(out, True), lse=(lse, True),
                 **{name: (tensor, False) for name, tensor in tensors.items()})
    arguments = attention_defaults()
    for name, view in seen.items():
        setattr(arguments, name, pointer(view))
    arguments.max_seqlen_q, arguments.max_seqlen_k = max_seqlens
    arguments.softmax_scale = 0.0 if softmax_scale is None else softmax_scale
    arguments.logits_soft_cap, arguments.causal = logits_soft_cap, causal
    arguments.window_left, arguments.window_right = _window(window_size)
    arguments.q_descale, arguments.k_descale, arguments.v_descale = descale
    call('attention', arguments, stream=stream_of(seen['q'], q))


def _result(out, lse):
    return out if lse is None else (out, lse)


def _dense_lse(q, wanted):
    return empty(q, (q.shape[0], q.shape[2], q.shape[1]), 'float32') if wanted and len(q.shape) == 4 else None


def _varlen_lse(q, wanted):
    return empty(q, (q.shape[1], q.shape[0]), 'float32') if wanted and len(q.shape) == 3 else None


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), bias=None, alibi_slopes=None,
                    deterministic=True, return_lse=False, return_attn_probs=False, logits_soft_cap=0.0, sink_ptr=None):
    """`softmax(q k^T) v` of `[batch, seqlen, heads, head_dim]`; k and v may have fewer heads (GQA, MQA).

    With return_lse also the logarithm of the softmax denominator, f32 `[batch, heads, seqlen_q]`. Every call is deterministic.
    """
    _refuse(dropout_p, bias, alibi_slopes, return_attn_probs, sink_ptr)
    out, lse = empty(q, q.shape), _dense_lse(q, return_lse)
    _attend(q, k, v, out, lse, {}, (0, 0), softmax_scale, logits_soft_cap, causal, window_size)
    return _result(out, lse)


def flash_attn_fp8_pertensor_func(q, k, v, q_descale, k_descale, v_descale, causal=False, window_size=(-1, -1), softmax_scale=None,
                                  out_dtype='bfloat16'):
    """flash_attn_func of float8_e4m3fn, each tensor with one factor (a number, or a tensor of one). gfx12 only, and the CPU.

    numpy knows no bfloat16 by itself: `out_dtype` may be a type of ml_dtypes, or float16.
    """
    descale = [float(factor) for factor in (q_descale, k_descale, v_descale)]
    out = empty(q, q.shape, out_dtype)
    _attend(q, k, v, out, None, {}, (0, 0), softmax_scale, 0.0, causal, window_size, descale)
    return out


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, min_seqlen_q=0, dropout_p=0.0,
                           softmax_scale=None, logits_soft_cap=0.0, causal=False, window_size=(-1, -1), bias=None, alibi_slopes=None,
                           deterministic=False, return_lse=False, return_attn_probs=False, block_table=None, out=None, sink_ptr=None):
    """The same of sequences of any length, one after the other: `[total, heads, head_dim]` with row offsets, int32 `[batch + 1]`.

    With a block_table, int32 `[batch, pages of a sequence]`, k and v are `[pages, page_rows, heads, head_dim]`. The LSE is `[heads, total_q]`.
    """
    _refuse(dropout_p, bias, alibi_slopes, return_attn_probs, sink_ptr)
    out = empty(q, q.shape) if out is None else out
    lse = _varlen_lse(q, return_lse)
    if block_table is None:
        tensors = {'cu_seqlens_q': cu_seqlens_q, 'cu_seqlens_k': cu_seqlens_k}
    else:
        lengths = cu_seqlens_k[1:] - cu_seqlens_k[:-1]
        tensors = {'cu_seqlens_q': cu_seqlens_q, 'seqlens_k': lengths, 'block_table': block_table}
    _attend(q, k, v, out, lse, tensors, (max_seqlen_q, max_seqlen_k), softmax_scale, logits_soft_cap, causal, window_size)
    return _result(out, lse)


def mha_batch_prefill_func(q, k, v, cu_seqlens_q, kv_indptr, kv_page_indices, max_seqlen_q, max_seqlen_k, dropout_p=0.0,
                           softmax_scale=None, logits_soft_cap=0.0, causal=False, window_size=(-1, -1), alibi_slopes=None,
                           deterministic=False, return_lse=False, return_attn_probs=False, out=None, kv_last_page_lens=None,
                           block_table=None, seqlen_k=None, sink_ptr=None):
    """Attention over pages: k and v are `[pages, page_rows, heads, head_dim]`.

    The pages of a sequence are `kv_page_indices[kv_indptr[i]:kv_indptr[i + 1]]` and the last one holds `kv_last_page_lens[i]` rows; or they are row i
    of `block_table`, and `seqlen_k[i]` says how many rows there are. The first form is turned into the second, which waits for a GPU. Pages hold 16 or
    more rows on a GPU.
    """
    _refuse(dropout_p, None, alibi_slopes, return_attn_probs, sink_ptr)
    if len(k.shape) != 4:
        raise InvalidArgument(f'k: expected the shape [pages, page_rows, kv_heads, head_dim], found {list(k.shape)}')
    if block_table is None:
        block_table, seqlen_k = _block_table(q, k.shape[1], kv_indptr, kv_page_indices, kv_last_page_lens)
    elif seqlen_k is None:
        raise InvalidArgument('seqlen_k: expected a tensor beside block_table, found None')
    out = empty(q, q.shape) if out is None else out
    lse = _varlen_lse(q, return_lse)
    tensors = {'cu_seqlens_q': cu_seqlens_q, 'seqlens_k': seqlen_k, 'block_table': block_table}
    _attend(q, k, v, out, lse, tensors, (max_seqlen_q, max_seqlen_k), softmax_scale, logits_soft_cap, causal, window_size)
    return _result(out, lse)


def _block_table(like, page_rows, kv_indptr, kv_page_indices, kv_last_page_lens):
    first, pages = to_list(kv_indptr), to_list(kv_page_indices)
    if kv_last_page_lens is None:
        if page_rows != 1:
            raise InvalidArgument('kv_last_page_lens: expected a tensor, found None')
        last = [1] * (len(first) - 1)
    else:
        last = to_list(kv_last_page_lens)
    if len(last) != len(first) - 1:
        raise InvalidArgument(f'kv_last_page_lens: expected {len(first) - 1} numbers, found {len(last)}')
    if sorted(first) != first or first[0] != 0 or first[-1] > len(pages):
        raise InvalidArgument(f'kv_indptr: expected offsets into {len(pages)} pages that start at 0 and never fall')
    rows = [pages[a:b] for a, b in zip(first, first[1:])]
    lengths = [(len(row) - 1) * page_rows + rest if row else 0 for row, rest in zip(rows, last)]
    width = max([len(row) for row in rows] + [1])
    return numbers([row + [0] * (width - len(row)) for row in rows], like), numbers(lengths, like)


def flash_attn_with_kvcache(q, k_cache, v_cache, k=None, v=None, rotary_cos=None, rotary_sin=None, cache_seqlens=None, cache_batch_idx=None,
                            block_table=None, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
                            rotary_interleaved=True, alibi_slopes=None, num_splits=0, return_softmax_lse=False):
    """Appends k and v to a cache, rotating k (and q) on the way, and attends to what it holds then: flash-attention's function.

    q, k and v are `[batch, seqlen, heads, head_dim]`, the cache `[batch, capacity, heads, head_dim]` or, with a block_table, `[pages, page_rows, ...]`.
    The tables are `[positions, rotary_dim / 2]`. The queries follow what the cache held; without a mask all have the position of the first.
    """
    from .rope import rope_cached_positions_fwd
    _refuse(0.0, None, alibi_slopes)
    refuse(cache_batch_idx=(cache_batch_idx, 'sequence i is row i of the cache here'))
    batch, rows, heads, head_dim = q.shape
    if cache_seqlens is None:
        raise InvalidArgument('cache_seqlens: expected int32 [batch], found None')
    before = to_list(cache_seqlens)
    added = 0 if k is None else k.shape[1]
    rotates = rotary_cos is not None
    if added:
        seen = views(k_cache=(k_cache, True), v_cache=(v_cache, True), k=(k, False), v=(v, False), cache_seqlens=(cache_seqlens, False),
                     block_table=(block_table, False), cos=(rotary_cos, False), sin=(rotary_sin, False))
        arguments = AppendKv(**{name: pointer(view) for name, view in seen.items()},
                             rotate_style=1 if rotary_interleaved else 0, nope_first=False)
        call('append_kv', arguments, stream=stream_of(seen['k_cache'], k_cache))
    if rotates:
        is_masked = causal or tuple(window_size[:2]) != (-1, -1)
        places = [[first + (row if is_masked else 0) for first in before] for row in range(rows)]
        style = 1 if rotary_interleaved else 0
        turned = rope_cached_positions_fwd(q.swapaxes(0, 1), rotary_cos, rotary_sin, numbers(places, q), style, True, False)
        flat = empty(q, q.shape)
        copy_into(flat, turned.swapaxes(0, 1))
        q = flat
    lengths = [length + added for length in before]
    out = empty(q, q.shape)
    if block_table is not None:
        pages, table = (k_cache, v_cache), block_table
    else:
        # Each row of the cache is one page.
        pages, table = (k_cache, v_cache), numbers([[i] for i in range(batch)], q)
    lse = empty(q, (heads, batch * rows), 'float32') if return_softmax_lse else None
    tensors = {'cu_seqlens_q': numbers([i * rows for i in range(batch + 1)], q), 'seqlens_k': numbers(lengths, q), 'block_table': table}
    flat_q, flat_out = q.reshape(batch * rows, heads, head_dim), out.reshape(batch * rows, heads, head_dim)
    _attend(flat_q, *pages, flat_out, lse, tensors, (rows, max(lengths + [0])), softmax_scale, softcap, causal, window_size)
    if lse is None:
        return out
    return out, lse.reshape(heads, batch, rows).swapaxes(0, 1)
