"""Norms of rows. `_with_add` writes `input + residual_in` to `residual_out` and norms that."""
from ._arrays import empty
from ._dlpack import expect, pointer, stream_of, views
from ._errors import refuse
from ._library import call


def _rms(out, input, residual_in, residual_out, weight, epsilon):
    v = views(out=(out, True), input=(input, False), residual_in=(residual_in, False), residual_out=(residual_out, True), weight=(weight, False))
    call('rms_norm', *map(pointer, v.values()), epsilon, stream=stream_of(v['input'], input))


def _layer(out, input, residual_in, residual_out, weight, bias, epsilon):
    v = views(out=(out, True), input=(input, False), residual_in=(residual_in, False), residual_out=(residual_out, True), weight=(weight, False),
              bias=(bias, False))
    call('layer_norm', *map(pointer, v.values()), epsilon, stream=stream_of(v['input'], input))


def rms_norm(input, weight, epsilon=1e-6, use_model_sensitive_rmsnorm=0):
    """`input / sqrt(mean(input^2) + epsilon) * weight`."""
    refuse(use_model_sensitive_rmsnorm=(use_model_sensitive_rmsnorm, 'there is one RMS norm here, with f32 sums'))
    expect(input=input)
    out = empty(input, input.shape)
    _rms(out, input, None, None, weight, epsilon)
    return out


rmsnorm2d_fwd = rms_norm


def rmsnorm2d_fwd_with_add(out, input, residual_in, residual_out, weight, epsilon, use_model_sensitive_rmsnorm=0):
    """RMS norm with the residual added first."""
    refuse(use_model_sensitive_rmsnorm=(use_model_sensitive_rmsnorm, 'there is one RMS norm here, with f32 sums'))
    _rms(out, input, residual_in, residual_out, weight, epsilon)


def layer_norm(input, weight=None, bias=None, epsilon=1e-5, x_bias=None):
    """`(input - mean) / sqrt(variance + epsilon) * weight + bias`."""
    refuse(x_bias=(x_bias, 'is not added here; add it to the input'))
    expect(input=input)
    out = empty(input, input.shape)
    _layer(out, input, None, None, weight, bias, epsilon)
    return out


layernorm2d_fwd = layer_norm


def layernorm2d_fwd_with_add(out, input, residual_in, residual_out, weight, bias, epsilon, x_bias=None):
    """Layer norm with the residual added first."""
    refuse(x_bias=(x_bias, 'is not added here; add it to the input'))
    _layer(out, input, residual_in, residual_out, weight, bias, epsilon)


def softmax(input):
    """The softmax of each row."""
    expect(input=input)
    out = empty(input, input.shape)
    v = views(out=(out, True), input=(input, False))
    call('softmax', *map(pointer, v.values()), stream=stream_of(v['input'], input))
    return out
