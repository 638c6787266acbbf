//! The number types that kernels come in.

use half::{bf16, f16};
use std::fmt;

/// A kernel's element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
}

impl Element {
    /// Every element.
    pub const ALL: [Self; 3] = [Self::F32, Self::F16, Self::Bf16];

    /// As kernel names spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
        }
    }

    /// The relative error that a correct result may have: one unit in the last place of a half-width element, a few of a float, because the order of
    /// a sum and the hardware's reciprocals differ from the reference's.
    pub fn tolerance(self) -> f32 {
        match self {
            Self::F32 => 2e-6,
            Self::F16 => 2.0_f32.powi(-10),
            Self::Bf16 => 2.0_f32.powi(-7),
        }
    }

    /// The nearest number this element can hold.
    pub fn round(self, number: f32) -> f32 {
        match self {
            Self::F32 => number,
            Self::F16 => f16::from_f32(number).to_f32(),
            Self::Bf16 => bf16::from_f32(number).to_f32(),
        }
    }

    /// The bytes of `numbers`, each rounded to the nearest.
    pub fn encode(self, numbers: &[f32]) -> Vec<u8> {
        match self {
            Self::F32 => numbers.iter().flat_map(|number| number.to_le_bytes()).collect(),
            Self::F16 => numbers.iter().flat_map(|number| f16::from_f32(*number).to_le_bytes()).collect(),
            Self::Bf16 => numbers.iter().flat_map(|number| bf16::from_f32(*number).to_le_bytes()).collect(),
        }
    }

    /// The numbers in `bytes`; what makes no whole number at the end is dropped.
    pub fn decode(self, bytes: &[u8]) -> Vec<f32> {
        let halves = || bytes.as_chunks::<2>().0.iter();
        match self {
            Self::F32 => bytes.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect(),
            Self::F16 => halves().map(|number| f16::from_le_bytes(*number).to_f32()).collect(),
            Self::Bf16 => halves().map(|number| bf16::from_le_bytes(*number).to_f32()).collect(),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_comes_back_rounded() {
        let numbers = [0.0, -1.5, 0.333_333_34, 1e-3, 65_504.0];
        for element in Element::ALL {
            let rounded = numbers.map(|number| element.round(number));
            assert_eq!(element.decode(&element.encode(&numbers)), rounded, "{element}");
        }
        assert_eq!(Element::Bf16.encode(&[1.0]), [0x80, 0x3f]);
    }
}
