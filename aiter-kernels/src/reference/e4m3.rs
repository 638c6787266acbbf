use super::Element;

/// An 8-bit float with 4 bits of exponent and 3 of mantissa, in the OCP's form (OFP8 1.0, E4M3): no infinity, one NaN a sign, at most 448.
/// It is what gfx12 computes with; gfx942's FNUZ form has another bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct E4m3(u8);

impl E4m3 {
    /// The largest number.
    pub const MAX: f32 = 448.0;

    /// The number with these bits.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Its bits.
    pub const fn to_bits(self) -> u8 {
        self.0
    }
}

const MANTISSA: u32 = 3;
/// A power of two: an f32 times this has the exponent field of the e4m3 number of the same value.
const REBIAS: u32 = (127 - 7) << MANTISSA;

impl Element for E4m3 {
    fn to_f32(self) -> f32 {
        let magnitude = u32::from(self.0 & 0x7f);
        let value = match magnitude {
            0x7f => f32::NAN,
            // Below the smallest normal number: eighths of 2^-6.
            0..8 => magnitude as f32 / 512.0,
            _ => f32::from_bits((magnitude + REBIAS) << (23 - MANTISSA)),
        };
        if self.0 & 0x80 == 0 { value } else { -value }
    }

    /// Numbers beyond 448 become 448, as `v_cvt_pk_fp8_f32` makes them after the clamp that kernels put before it.
    fn from_f32(value: f32) -> Self {
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        if value.is_nan() {
            return Self(sign | 0x7f);
        }
        let magnitude = value.abs().min(Self::MAX);
        let bits = if magnitude < 1.0 / 64.0 {
            (magnitude * 512.0).round_ties_even() as u32
        } else {
            let bits = magnitude.to_bits();
            let half = (1 << (22 - MANTISSA)) - 1 + (bits >> (23 - MANTISSA) & 1);
            ((bits + half) >> (23 - MANTISSA)) - REBIAS
        };
        Self(sign | bits as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_itself_again() {
        for bits in (0..=255).filter(|bits| bits & 0x7f != 0x7f) {
            let value = E4m3(bits).to_f32();
            assert_eq!(E4m3::from_f32(value), E4m3(bits), "{bits:#x} is {value}");
        }
        assert!(E4m3(0x7f).to_f32().is_nan() && E4m3(0xff).to_f32().is_nan());
    }

    #[test]
    fn the_numbers_are_those_of_the_specification() {
        // OFP8 1.0, table 1.
        let table =
            [(0x7e, 448.0), (0x08, 1.0 / 64.0), (0x07, 0.875 / 64.0), (0x01, 1.0 / 512.0), (0x38, 1.0)];
        for (bits, value) in table {
            assert_eq!(E4m3(bits).to_f32(), value);
        }
    }

    #[test]
    fn the_nearest_is_taken_and_the_even_one_of_two() {
        for (value, expected) in [
            (1.0625, 1.0),
            (1.0626, 1.125),
            (1.1875, 1.25),
            (-1.0625, -1.0),
            (0.5 / 512.0, 0.0),
            (1.5 / 512.0, 2.0 / 512.0),
            (7.5 / 512.0, 8.0 / 512.0),
            (400.0, 384.0),
            (431.0, 416.0),
            (432.0, 448.0),
            (1e9, 448.0),
            (f32::INFINITY, 448.0),
            (f32::NEG_INFINITY, -448.0),
        ] {
            assert_eq!(E4m3::from_f32(value).to_f32(), expected, "{value}");
        }
        assert!(E4m3::from_f32(f32::NAN).to_f32().is_nan());
        assert_eq!(E4m3::from_f32(-0.0), E4m3(0x80));
    }
}
