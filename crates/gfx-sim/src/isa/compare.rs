//! Vector comparisons: `v_cmp_<condition>_<type>` writes a mask, `v_cmpx_…` EXEC.

use super::Env;

/// A condition on two numbers of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// Which of these make it true.
    outcomes: u8,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Signed(u32),
    Unsigned(u32),
    Float(u32),
    /// `class`: which kinds of number S0 is, by S1's bits.
    Class(u32),
}

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
/// A NaN is among them.
const UNORDERED: u8 = 8;

/// Every condition's name and what makes it true.
const CONDITIONS: [(&str, u8); 17] = [
    ("lt", LESS),
    ("eq", EQUAL),
    ("le", LESS | EQUAL),
    ("gt", GREATER),
    ("lg", LESS | GREATER),
    ("ge", GREATER | EQUAL),
    ("o", LESS | EQUAL | GREATER),
    ("u", UNORDERED),
    ("nge", LESS | UNORDERED),
    ("nlg", EQUAL | UNORDERED),
    ("ngt", LESS | EQUAL | UNORDERED),
    ("nle", GREATER | UNORDERED),
    ("neq", LESS | GREATER | UNORDERED),
    ("nlt", GREATER | EQUAL | UNORDERED),
    ("ne", LESS | GREATER),
    ("t", LESS | EQUAL | GREATER | UNORDERED),
    ("f", 0),
];

impl Comparison {
    /// `lt_i32` and the like.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (condition, kind) = name.rsplit_once('_')?;
        let bits = kind.get(1..)?.parse().ok().filter(|bits| [16, 32, 64].contains(bits))?;
        if condition == "class" {
            return kind.starts_with('f').then_some(Self { outcomes: 0, kind: Kind::Class(bits) });
        }
        let (_, outcomes) = CONDITIONS.iter().find(|(name, _)| *name == condition)?;
        let kind = match kind.chars().next()? {
            'i' => Kind::Signed(bits),
            'u' => Kind::Unsigned(bits),
            'f' => Kind::Float(bits),
            _ => return None,
        };
        Some(Self { outcomes: *outcomes, kind })
    }

    /// The types of its operands, as a signature has them.
    pub(crate) fn operands(self) -> &'static str {
        match self.kind {
            Kind::Signed(16) => "m: i16 i16",
            Kind::Signed(64) => "m: i64 i64",
            Kind::Signed(_) => "m: i32 i32",
            Kind::Unsigned(16) => "m: u16 u16",
            Kind::Unsigned(64) => "m: u64 u64",
            Kind::Unsigned(_) => "m: u32 u32",
            Kind::Float(16) => "m: f16 f16",
            Kind::Float(64) => "m: f64 f64",
            Kind::Float(_) => "m: f32 f32",
            Kind::Class(16) => "m: f16 u32",
            Kind::Class(64) => "m: f64 u32",
            Kind::Class(_) => "m: f32 u32",
        }
    }

    /// Whether it holds for one lane.
    pub(crate) fn holds(self, e: Env, a: u64, b: u64) -> bool {
        use std::cmp::Ordering;
        let order = match self.kind {
            Kind::Unsigned(_) => Some(a.cmp(&b)),
            Kind::Signed(16) => Some((a as i16).cmp(&(b as i16))),
            Kind::Signed(64) => Some((a as i64).cmp(&(b as i64))),
            Kind::Signed(_) => Some((a as i32).cmp(&(b as i32))),
            Kind::Float(bits) => decode(e, a, bits).partial_cmp(&decode(e, b, bits)),
            Kind::Class(bits) => return class(decode(e, a, bits), a, bits) & b & 0x3ff != 0,
        };
        let outcome = match order {
            Some(Ordering::Less) => LESS,
            Some(Ordering::Equal) => EQUAL,
            Some(Ordering::Greater) => GREATER,
            None => UNORDERED,
        };
        self.outcomes & outcome != 0
    }
}

fn decode(e: Env, x: u64, bits: u32) -> f64 {
    match bits {
        16 => e.mode.f16(x),
        32 => f64::from(e.mode.f32(x)),
        _ => e.mode.f64(x),
    }
}

/// One bit of ten: signalling NaN, quiet NaN, -infinity, -normal, -denormal, -0, +0, +denormal, +normal, +infinity.
fn class(x: f64, raw: u64, bits: u32) -> u64 {
    let (is_quiet, least) = match bits {
        16 => (raw & 0x200 != 0, 2f64.powi(-14)),
        32 => (raw & 0x40_0000 != 0, f64::from(f32::MIN_POSITIVE)),
        _ => (raw & 1 << 51 != 0, f64::MIN_POSITIVE),
    };
    if x.is_nan() {
        return if is_quiet { 2 } else { 1 };
    }
    let step = if x.is_infinite() {
        3
    } else if x == 0.0 {
        0
    } else if x.abs() < least {
        1
    } else {
        2
    };
    if x.is_sign_negative() { 1 << (5 - step) } else { 1 << (6 + step) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Mode;

    const ENV: Env = Env { mode: Mode(0xf0), lane: 0, vcc: false };

    /// Every condition on every type, against Rust's own operators.
    #[test]
    #[expect(
        clippy::double_comparisons,
        clippy::neg_cmp_op_on_partial_ord,
        reason = "what the conditions say of a NaN is the point"
    )]
    fn every_condition_of_every_type() {
        let numbers = [0.0, -0.0, 1.0, -1.5, f32::NAN, f32::INFINITY, 3.0];
        let by_name = |name: &str, a: f32, b: f32| match name {
            "lt" => a < b,
            "eq" => a == b,
            "le" => a <= b,
            "gt" => a > b,
            "lg" => a < b || a > b,
            "ge" => a >= b,
            "o" => !a.is_nan() && !b.is_nan(),
            "u" => a.is_nan() || b.is_nan(),
            "nge" => !(a >= b),
            "nlg" => !(a < b || a > b),
            "ngt" => !(a > b),
            "nle" => !(a <= b),
            "neq" => a != b,
            "nlt" => !(a < b),
            "ne" => !a.is_nan() && !b.is_nan() && a != b,
            "t" => true,
            _ => false,
        };
        for (name, _) in CONDITIONS {
            for (a, b) in numbers.iter().flat_map(|a| numbers.map(|b| (*a, b))) {
                let parse = |kind: &str| Comparison::parse(&format!("{name}_{kind}")).expect(name);
                let expected = by_name(name, a, b);
                let bits = |x: f32| u64::from(x.to_bits());
                let half = |x: f32| u64::from(half::f16::from_f32(x).to_bits());
                assert_eq!(parse("f32").holds(ENV, bits(a), bits(b)), expected, "{name} {a} {b}");
                assert_eq!(parse("f64").holds(ENV, f64::from(a).to_bits(), f64::from(b).to_bits()), expected);
                assert_eq!(parse("f16").holds(ENV, half(a), half(b)), expected);
                if a.is_finite() && b.is_finite() && a.fract() + b.fract() == 0.0 {
                    let (x, y) = (a as i64, b as i64);
                    assert_eq!(
                        parse("i32").holds(ENV, x as u64 & 0xffff_ffff, y as u64 & 0xffff_ffff),
                        expected
                    );
                    assert_eq!(parse("i64").holds(ENV, x as u64, y as u64), expected);
                    assert_eq!(parse("i16").holds(ENV, x as u64 & 0xffff, y as u64 & 0xffff), expected);
                    assert_eq!(parse("u32").holds(ENV, x as u64, y as u64), expected);
                }
            }
        }
        let unsigned = Comparison::parse("lt_u32").expect("known");
        assert!(unsigned.holds(ENV, 1, 0xffff_ffff));
    }

    #[test]
    fn classes() {
        let table = [
            (f32::NAN, 1),
            (f32::NEG_INFINITY, 2),
            (-1.0, 3),
            (-1e-40, 4),
            (-0.0, 5),
            (0.0, 6),
            (1e-40, 7),
            (1.0, 8),
            (f32::INFINITY, 9),
        ];
        let class = Comparison::parse("class_f32").expect("known");
        for (x, bit) in table {
            for other in 0..10 {
                assert_eq!(class.holds(ENV, u64::from(x.to_bits()), 1 << other), other == bit, "{x} {other}");
            }
        }
    }
}
