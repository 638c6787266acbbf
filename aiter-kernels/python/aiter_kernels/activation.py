"""Gated activations: `out = f(input[..., :width]) * input[..., width:]`, written in place as upstream does."""
from ._dlpack import pointer, stream_of, views
from ._library import call


def _gated(function, out, input):
    v = views(out=(out, True), input=(input, False))
    call(function, pointer(v['out']), pointer(v['input']), stream=stream_of(v['input'], input))


def silu_and_mul(out, input):
    """`x / (1 + e^-x)`."""
    _gated('silu_and_mul', out, input)


def gelu_and_mul(out, input):
    """`x / 2 (1 + erf(x / sqrt(2)))`."""
    _gated('gelu_and_mul', out, input)


def gelu_tanh_and_mul(out, input):
    """`x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`."""
    _gated('gelu_tanh_and_mul', out, input)
