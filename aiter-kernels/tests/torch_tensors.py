"""torch's tensors through the package, held against torch's own functions. Run by hand, because torch is large:

    AITER_KERNELS_LIBRARY=<release>/libaiter_kernels.so PYTHONPATH=aiter-kernels/python python3 aiter-kernels/tests/torch_tensors.py
"""
import torch
import torch.nn.functional as F

import aiter_kernels as ak

# Relative to 1 and more.
BOUND = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1e-2}


def close(found, expected, bound, what):
    assert isinstance(found, torch.Tensor), what
    error = ((found.float() - expected) / (1 + expected.abs())).abs().max().item()
    assert error <= bound, f'{what} of {found.dtype}: {error} > {bound}'


def check(dtype):
    q, k, v = (torch.randn(2, rows, heads, 64).to(dtype) for rows, heads in ((70, 8), (101, 2), (101, 2)))
    out, lse = ak.flash_attn_func(q, k, v, causal=True, return_lse=True)
    assert out.dtype == dtype
    wide_q, wide_k, wide_v = (t.float().transpose(1, 2).repeat_interleave(8 // t.shape[2], 1) for t in (q, k, v))
    sees = torch.ones(70, 101).tril(101 - 70).bool()
    scores = (wide_q @ wide_k.transpose(-1, -2) / 8).masked_fill(~sees, float('-inf'))
    close(out, (scores.softmax(-1) @ wide_v).transpose(1, 2), BOUND[dtype], 'flash_attn_func')
    close(lse, scores.logsumexp(-1), 1e-5, 'lse')

    # Views: q, k and v lie in one tensor.
    qkv = torch.randn(1, 33, 3, 4, 64).to(dtype)
    views = [qkv[:, :, i] for i in range(3)]
    assert torch.equal(ak.flash_attn_func(*views), ak.flash_attn_func(*(view.contiguous() for view in views)))

    starts = [torch.tensor(starts, dtype=torch.int32) for starts in ((0, 20, 70), (0, 30, 101))]
    packed = ak.flash_attn_varlen_func(q[0], k[0], v[0], *starts, 50, 71, causal=True)
    parts = [ak.flash_attn_func(q[:1, :20], k[:1, :30], v[:1, :30], causal=True)[0],
             ak.flash_attn_func(q[:1, 20:], k[:1, 30:], v[:1, 30:], causal=True)[0]]
    assert torch.equal(packed, torch.cat(parts))

    x, weight, activated = torch.randn(5, 600).to(dtype), torch.randn(600).to(dtype), torch.empty(5, 300, dtype=dtype)
    ak.silu_and_mul(activated, x)
    gate, up = x.float().chunk(2, -1)
    close(activated, F.silu(gate) * up, BOUND[dtype], 'silu_and_mul')
    normed = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6) * weight.float()
    close(ak.rms_norm(x, weight, 1e-6), normed, BOUND[dtype], 'rms_norm')

    try:
        ak.flash_attn_func(q, k[..., :32], v)
    except ak.InvalidArgument as error:
        assert str(error) == 'k: expected the shape [2, 101, 2, 64], found [2, 101, 2, 32]', error
    else:
        raise AssertionError('another head dim was taken')


torch.manual_seed(0)
for each in BOUND:
    check(each)
print(f'ok with torch {torch.__version__}')
