"""Rotary embedding of `[s, b, h, d]`, with tables of cosines and sines, `[positions, 1, 1, rotary_dim / 2]`.

rotate_style 0 is NEOX (the second half of the elements is rotated), 1 is GPT-J (the odd ones). With nope_first the elements that are not rotated come
first in a head. reuse_freqs_front_part must be true: each angle serves the two elements that are rotated together.
Tables of f16 or bf16 become f32, and positions of int64 int32, on the way.
"""
from ._arrays import converted, empty
from ._dlpack import expect, pointer, stream_of, views
from ._errors import refuse
from ._library import call


def _rope(out, input, cos, sin, positions, rotate_style, reuse_freqs_front_part, nope_first, transpose_output=False):
    """`out` None: a new one."""
    expect(input=input)
    out = empty(input, input.shape) if out is None else out
    refuse(reuse_freqs_front_part=(not reuse_freqs_front_part, 'must be true: tables have rotary_dim / 2 columns here'),
           transpose_output=(transpose_output, 'must be false: the output lies as the input does'))
    cos, sin = (converted(name, table, 'float32', 'float16', 'bfloat16') for name, table in (('cos', cos), ('sin', sin)))
    positions = converted('positions', positions, 'int32', 'int64')
    v = views(out=(out, True), input=(input, False), cos=(cos, False), sin=(sin, False), positions=(positions, False))
    call('rope', *map(pointer, v.values()), rotate_style, nope_first, stream=stream_of(v['input'], input))
    return out


def rope_cached_fwd(input, cos, sin, rotate_style, reuse_freqs_front_part, nope_first, transpose_output=False):
    """Each row is rotated by its number along s."""
    return _rope(None, input, cos, sin, None, rotate_style, reuse_freqs_front_part, nope_first, transpose_output)


def rope_cached_fwd_inplace(input, cos, sin, rotate_style, reuse_freqs_front_part, nope_first, transpose_output=False):
    """The same over its own memory."""
    return _rope(input, input, cos, sin, None, rotate_style, reuse_freqs_front_part, nope_first, transpose_output)


def rope_cached_positions_fwd(input, cos, sin, positions, rotate_style, reuse_freqs_front_part, nope_first, transpose_output=False):
    """Each row is rotated by its entry of `positions`, `[s, b]`."""
    return _rope(None, input, cos, sin, positions, rotate_style, reuse_freqs_front_part, nope_first, transpose_output)


def rope_cached_positions_fwd_inplace(input, cos, sin, positions, rotate_style, reuse_freqs_front_part, nope_first, transpose_output=False):
    """The same over its own memory."""
    return _rope(input, input, cos, sin, positions, rotate_style, reuse_freqs_front_part, nope_first, transpose_output)


def rope_cached_positions_2c_fwd_inplace(input_x, input_y, cos, sin, positions, rotate_style, reuse_freqs_front_part, nope_first):
    """Queries and keys, over their own memory."""
    for input in (input_x, input_y):
        _rope(input, input, cos, sin, positions, rotate_style, reuse_freqs_front_part, nope_first)
    return input_x, input_y
