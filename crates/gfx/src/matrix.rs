//! Matrix instructions: which generation a target has, and what numbers it multiplies.

use std::fmt;

/// A generation of WMMA (wave matrix multiply-accumulate). The two differ in how a lane holds its operands, so code for one gives wrong
/// numbers on the other (facts/aiter_ck.md 5.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wmma {
    /// gfx11: 16 values a lane, duplicated in both half-waves; register `r` of the accumulator holds row `2 * r + lane / 16`.
    Gfx11,
    /// gfx12: 8 values a lane, K split over the half-waves; register `r` of the accumulator holds row `8 * (lane / 16) + r`.
    Gfx12,
}

impl Wmma {
    /// The operand types of this generation's 16x16x16 instructions.
    pub fn data_types(self) -> &'static [DataType] {
        match self {
            Self::Gfx11 => &[DataType::F16, DataType::Bf16, DataType::Iu8, DataType::Iu4],
            Self::Gfx12 => {
                &[DataType::F16, DataType::Bf16, DataType::Iu8, DataType::Iu4, DataType::Fp8, DataType::Bf8]
            }
        }
    }
}

/// A type of matrix operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataType {
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// 8-bit integer, signed or unsigned by operand.
    Iu8,
    /// 4-bit integer, signed or unsigned by operand.
    Iu4,
    /// 8-bit float e4m3, in the OCP format.
    Fp8,
    /// 8-bit float e5m2, in the OCP format.
    Bf8,
}

impl DataType {
    /// As the instruction's name spells it, e.g. `bf16`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Iu8 => "iu8",
            Self::Iu4 => "iu4",
            Self::Fp8 => "fp8",
            Self::Bf8 => "bf8",
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
