//! What kernels compute, and on what.

use std::fmt;

/// What a kernel computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Attention forward: `softmax(scale q k^T) v` and the logarithm of the softmax denominator.
    FmhaFwd,
    /// [`Self::FmhaFwd`] over a paged KV cache.
    FmhaPaged,
    /// [`Self::FmhaPaged`] of one query a sequence, in parts of its keys.
    FmhaSplitKv,
    /// The parts of [`Self::FmhaSplitKv`] put together.
    FmhaCombine,
    /// `silu(gate) * up`.
    SiluAndMul,
    /// `gelu(gate) * up`.
    GeluAndMul,
    /// `gelu(gate) * up` with the tanh form of gelu.
    GeluTanhAndMul,
    /// A row over the root of its mean square, with a fused residual.
    RmsNorm,
    /// A row less its mean over the root of its variance, with a fused residual.
    LayerNorm,
    /// The softmax of a row.
    Softmax,
    /// A row as int8 with a scale of its own.
    QuantiseInt8,
    /// A row as fp8 (OCP e4m3) with a scale of its own.
    QuantiseE4m3,
    /// Heads rotated by the position of their row.
    Rope,
    /// New keys, rotated, and values written into a cache.
    AppendKv,
}

impl Operation {
    /// Every operation.
    pub const ALL: &[Self] = &[
        Self::FmhaFwd,
        Self::FmhaPaged,
        Self::FmhaSplitKv,
        Self::FmhaCombine,
        Self::SiluAndMul,
        Self::GeluAndMul,
        Self::GeluTanhAndMul,
        Self::RmsNorm,
        Self::LayerNorm,
        Self::Softmax,
        Self::QuantiseInt8,
        Self::QuantiseE4m3,
        Self::Rope,
        Self::AppendKv,
    ];

    /// As kernels, files and messages spell it, e.g. `fmha_fwd`.
    pub fn name(self) -> &'static str {
        match self {
            Self::FmhaFwd => "fmha_fwd",
            Self::FmhaPaged => "fmha_paged",
            Self::FmhaSplitKv => "fmha_split_kv",
            Self::FmhaCombine => "fmha_combine",
            Self::SiluAndMul => "silu_and_mul",
            Self::GeluAndMul => "gelu_and_mul",
            Self::GeluTanhAndMul => "gelu_tanh_and_mul",
            Self::RmsNorm => "rms_norm",
            Self::LayerNorm => "layer_norm",
            Self::Softmax => "softmax",
            Self::QuantiseInt8 => "quantise_int8",
            Self::QuantiseE4m3 => "quantise_e4m3",
            Self::Rope => "rope",
            Self::AppendKv => "append_kv",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of an operation's tensors; accumulation is f32 everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataType {
    /// bfloat16.
    Bf16,
    /// IEEE half precision.
    F16,
    /// IEEE single precision.
    F32,
    /// 8-bit float of the OCP; o is bf16.
    E4m3,
}

impl DataType {
    /// As kernels spell it, e.g. `bf16`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::E4m3 => "e4m3",
        }
    }

    /// Bytes of one element.
    pub const fn size(self) -> u32 {
        match self {
            Self::Bf16 | Self::F16 => 2,
            Self::F32 => 4,
            Self::E4m3 => 1,
        }
    }
}
