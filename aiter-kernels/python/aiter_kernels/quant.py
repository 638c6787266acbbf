"""Quantisation to 8 bits with a scale for each row: `input` is about `out * scale`. Rounded to nearest, ties to even."""
from ._arrays import empty
from ._dlpack import expect, pointer, stream_of, views
from ._errors import refuse
from ._library import call


def dynamic_per_token_scaled_quant(out, input, scales, scale_ub=None, shuffle_scale=False, num_rows=None, num_rows_factor=1):
    """Writes `out` (int8 or float8_e4m3fn) and `scales` (float32, one a row)."""
    refuse(scale_ub=(scale_ub, 'scales have no upper bound here'), shuffle_scale=(shuffle_scale, 'scales lie in the order of the rows here'),
           num_rows=(num_rows, 'all rows are quantised here'), num_rows_factor=(num_rows_factor != 1, 'must be 1'))
    v = views(out=(out, True), input=(input, False), scales=(scales, True))
    call('dynamic_per_token_scaled_quant', *map(pointer, v.values()), stream=stream_of(v['input'], input))


def pertoken_quant(x, scale=None, x_scale=None, scale_dtype=None, quant_dtype='int8', dtypeMax=None):
    """The numbers, and the scales `[..., 1]` in float32."""
    refuse(scale=(scale, 'scales are computed here'), x_scale=(x_scale, 'the input is not scaled first here'),
           dtypeMax=(dtypeMax, "the largest number is the type's here"))
    if scale_dtype is not None and 'float32' not in str(scale_dtype):
        refuse(scale_dtype=(scale_dtype, 'scales are float32 here'))
    expect(x=x)
    out, scales = empty(x, x.shape, quant_dtype), empty(x, (*x.shape[:-1], 1), 'float32')
    dynamic_per_token_scaled_quant(out, x, scales)
    return out, scales
