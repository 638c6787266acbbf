//! Numbers as the vector unit computes with them: rounding and denormal modes, half, bfloat16 and the two 8-bit formats.

/// What the MODE register says of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mode(pub(crate) u32);

/// Directions of MODE's rounding fields.
const NEAREST: u32 = 0;
const UP: u32 = 1;
const DOWN: u32 = 2;
const ZERO: u32 = 3;

/// A binary format: significant bits, smallest normal exponent, largest finite number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Format {
    bits: i32,
    least: i32,
    largest: f64,
}

pub(crate) const F32: Format = Format { bits: 24, least: -126, largest: f32::MAX as f64 };
pub(crate) const F16: Format = Format { bits: 11, least: -14, largest: 65_504.0 };
pub(crate) const BF16: Format = Format { bits: 8, least: -126, largest: 3.389_531_389_251_535_5e38 };
pub(crate) const FP8: Format = Format { bits: 4, least: -6, largest: 448.0 };
pub(crate) const BF8: Format = Format { bits: 3, least: -14, largest: 57_344.0 };

impl Format {
    /// Bits of the mantissa that are stored.
    pub(crate) fn mantissa(self) -> u32 {
        self.bits as u32 - 1
    }
}

impl Mode {
    pub(crate) fn round_32(self) -> u32 {
        self.0 & 3
    }

    pub(crate) fn round_16_64(self) -> u32 {
        self.0 >> 2 & 3
    }

    /// Whether f32 operands and results may be denormal: (input, output).
    pub(crate) fn denormals_32(self) -> (bool, bool) {
        (self.0 & 0x10 != 0, self.0 & 0x20 != 0)
    }

    pub(crate) fn denormals_16_64(self) -> (bool, bool) {
        (self.0 & 0x40 != 0, self.0 & 0x80 != 0)
    }

    /// FP16_OVFL: a result beyond the format becomes its largest number.
    pub(crate) fn saturates(self) -> bool {
        self.0 & 1 << 23 != 0
    }

    /// An f32 operand.
    pub(crate) fn f32(self, bits: u64) -> f32 {
        let x = f32::from_bits(bits as u32);
        if x.is_subnormal() && !self.denormals_32().0 { 0f32.copysign(x) } else { x }
    }

    /// An f32 result that was rounded already.
    pub(crate) fn put(self, x: f32) -> u64 {
        let x = if x.is_subnormal() && !self.denormals_32().1 { 0f32.copysign(x) } else { x };
        u64::from(x.to_bits())
    }

    /// The f32 result `sum + rest`, where `rest` is what `sum` lost.
    pub(crate) fn put_exact(self, sum: f64, rest: f64) -> u64 {
        self.put(round(sum, rest, self.round_32(), F32) as f32)
    }

    /// An f16 operand.
    pub(crate) fn f16(self, bits: u64) -> f64 {
        let x = half::f16::from_bits(bits as u16);
        let is_denormal = bits & 0x7c00 == 0 && bits & 0x3ff != 0;
        if is_denormal && !self.denormals_16_64().0 { 0f64.copysign(x.to_f64()) } else { x.to_f64() }
    }

    /// The f16 result `sum + rest`.
    pub(crate) fn put_f16(self, sum: f64, rest: f64) -> u64 {
        let mut x = round(sum, rest, self.round_16_64(), F16);
        if x != 0.0 && x.abs() < 2f64.powi(-14) && !self.denormals_16_64().1 {
            x = 0f64.copysign(x);
        }
        if x.is_infinite() && sum.is_finite() && self.saturates() {
            x = 65_504f64.copysign(x);
        }
        f16_bits(x)
    }

    pub(crate) fn f64(self, bits: u64) -> f64 {
        let x = f64::from_bits(bits);
        if x.is_subnormal() && !self.denormals_16_64().0 { 0f64.copysign(x) } else { x }
    }

    pub(crate) fn put_f64(self, x: f64) -> u64 {
        let x = if x.is_subnormal() && !self.denormals_16_64().1 { 0f64.copysign(x) } else { x };
        x.to_bits()
    }
}

/// The bits of a number that f16 holds exactly, or of an infinity or NaN.
pub(crate) fn f16_bits(x: f64) -> u64 {
    u64::from(half::f16::from_f32(x as f32).to_bits())
}

pub(crate) fn bf16_to_f32(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// The bits of a number that bf16 holds exactly, or of an infinity or NaN.
pub(crate) fn bf16_bits(x: f64) -> u64 {
    let bits = (x as f32).to_bits() >> 16;
    u64::from(if x.is_nan() { bits | 0x40 } else { bits })
}

/// `sum` and the part that rounding it to f64 lost: the exact `a + b` (Knuth's two-sum).
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let other = sum - a;
    let rest = (a - (sum - other)) + (b - other);
    (sum, if rest.is_finite() { rest } else { 0.0 })
}

/// `x + rest` in `format`; `rest` is smaller than half of x's last place and only breaks ties and directs.
pub(crate) fn round(x: f64, rest: f64, direction: u32, format: Format) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    // Just below a power of two the steps are finer.
    let is_below_power = x.to_bits() << 12 == 0 && rest != 0.0 && (rest < 0.0) == (x > 0.0);
    let exponent = (exponent - i32::from(is_below_power)).max(format.least);
    let step = exponent - (format.bits - 1);
    // Scaling by powers of two is exact: in two factors, since one may be beyond f64 itself.
    let scaled = scale(x, -step);
    let floor = scaled.floor();
    let part = scaled - floor;
    let is_exact = part == 0.0 && rest == 0.0;
    // Which side of `floor` the exact number lies on, when x itself is a whole number of steps.
    let below = part == 0.0 && rest < 0.0;
    let (floor, part) = if below { (floor - 1.0, 1.0) } else { (floor, part) };
    let up = match direction {
        _ if is_exact => false,
        UP => true,
        DOWN => false,
        ZERO => x < 0.0,
        _ => {
            let is_above = part > 0.5 || part == 0.5 && rest > 0.0;
            let is_tie = part == 0.5 && rest == 0.0;
            is_above || is_tie && floor.rem_euclid(2.0) == 1.0
        }
    };
    let rounded = scale(if up { floor + 1.0 } else { floor }, step);
    if rounded == 0.0 {
        return 0f64.copysign(x);
    }
    if rounded.abs() <= format.largest {
        return rounded;
    }
    let stays = match direction {
        UP => x < 0.0,
        DOWN => x > 0.0,
        ZERO => true,
        _ => false,
    };
    if stays { format.largest.copysign(x) } else { f64::INFINITY.copysign(x) }
}

/// To nearest, ties to even.
pub(crate) fn nearest(x: f64, format: Format) -> f64 {
    round(x, 0.0, NEAREST, format)
}

fn scale(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    x * 2f64.powi(half) * 2f64.powi(exponent - half)
}

/// An 8-bit number: fp8 is OCP's E4M3 (no infinity, NaN is all ones), bf8 its E5M2.
pub(crate) fn from_8_bits(bits: u32, format: Format) -> f32 {
    let mantissa_bits = format.bits as u32 - 1;
    let (mantissa, exponent) =
        (bits & ((1 << mantissa_bits) - 1), bits >> mantissa_bits & (0x7f >> mantissa_bits));
    let is_bf8 = mantissa_bits == 2;
    let size = if is_bf8 && exponent == 31 {
        if mantissa == 0 { f64::INFINITY } else { f64::NAN }
    } else if !is_bf8 && bits & 0x7f == 0x7f {
        f64::NAN
    } else if exponent == 0 {
        scale(f64::from(mantissa), format.least - mantissa_bits as i32)
    } else {
        let whole = f64::from(mantissa | 1 << mantissa_bits);
        scale(whole, exponent as i32 - 1 + format.least - mantissa_bits as i32)
    };
    (if bits & 0x80 != 0 { -size } else { size }) as f32
}

/// The 8 bits of a number that was rounded to `format`; beyond it: the largest number if `saturates`, else infinity or NaN.
pub(crate) fn to_8_bits(x: f64, format: Format, saturates: bool) -> u32 {
    let mantissa_bits = format.bits as u32 - 1;
    let is_bf8 = mantissa_bits == 2;
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    if x.is_nan() {
        return sign | 0x7f;
    }
    let size = x.abs();
    if size > format.largest {
        return sign
            | match (is_bf8, saturates) {
                (true, true) => 0x7b,
                (true, false) => 0x7c,
                (false, true) => 0x7e,
                (false, false) => 0x7f,
            };
    }
    if size == 0.0 {
        return sign;
    }
    let exponent = ((size.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(format.least);
    let whole = scale(size, mantissa_bits as i32 - exponent) as u32;
    let biased = (exponent - format.least + 1) as u32;
    sign | if whole >> mantissa_bits == 0 {
        whole
    } else {
        biased << mantissa_bits | whole & ((1 << mantissa_bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_agrees_with_the_host_where_the_host_can() {
        let mut seed = 7u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let x = f64::from_bits(seed & !(0x7ff << 52) | (1023 - 160 + (seed >> 20) % 320) << 52);
            assert_eq!(nearest(x, F32), f64::from(x as f32), "{x:e}");
        }
        assert_eq!(round(1.0, 1e-20, UP, F32), 1.0 + f64::from(f32::EPSILON));
        assert_eq!(round(1.0, -1e-20, ZERO, F32), 1.0 - f64::from(f32::EPSILON) / 2.0);
        assert_eq!(round(-1.5e39, 0.0, UP, F32), -f64::from(f32::MAX));
        assert_eq!(nearest(65_519.9, F16), 65_504.0);
        assert_eq!(nearest(65_520.0, F16), f64::INFINITY);
    }

    #[test]
    fn all_256_of_both_formats_come_back() {
        for format in [FP8, BF8] {
            for bits in 0..=255 {
                let x = from_8_bits(bits, format);
                if x.is_finite() {
                    assert_eq!(to_8_bits(f64::from(x), format, false), bits, "{x}");
                }
            }
        }
        assert_eq!(from_8_bits(0x7e, FP8), 448.0);
        assert_eq!(from_8_bits(0x01, FP8), 2f32.powi(-9));
        assert_eq!(from_8_bits(0x7b, BF8), 57_344.0);
        assert_eq!(to_8_bits(nearest(1000.0, FP8), FP8, true), 0x7e);
        assert_eq!(to_8_bits(nearest(1000.0, FP8), FP8, false), 0x7f);
    }
}
