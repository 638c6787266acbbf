//! Operands as LLVM spells them.

use crate::text::integer;

/// Which part of a 32-bit register a 16-bit operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Half {
    Low,
    High,
}

/// Scalar registers have one number space, as the encodings have: 0 to 105 are s0 to s105.
pub(crate) mod scalar {
    pub(crate) const VCC: u8 = 106;
    /// ttmp0 to ttmp15.
    pub(crate) const TTMP: u8 = 108;
    pub(crate) const NULL: u8 = 124;
    pub(crate) const M0: u8 = 125;
    pub(crate) const EXEC: u8 = 126;
    pub(crate) const COUNT: usize = 128;
}

/// The address from which a generic (flat) address is one of LDS, and of scratch; 4 GiB each.
pub(crate) const SHARED_BASE: u64 = 0x0001_0000_0000_0000;
pub(crate) const PRIVATE_BASE: u64 = 0x0002_0000_0000_0000;

/// What an instruction names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Operand {
    /// `count` vector registers from `first`; a half of one where `half` says so.
    Vector {
        first: u8,
        count: u8,
        half: Option<Half>,
    },
    /// The same of scalar registers.
    Scalar {
        first: u8,
        count: u8,
        half: Option<Half>,
    },
    Scc,
    /// An integer inline constant or a literal.
    Integer(i64),
    /// A floating inline constant.
    Float(f64),
    /// An aperture's base or limit, 64 bits.
    Aperture(u64),
    Off,
}

/// An operand with its sign modifiers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Signed {
    pub(crate) operand: Operand,
    pub(crate) negate: bool,
    pub(crate) absolute: bool,
}

/// `-|v3|`, `v3.h`, `s[2:3]`, `0.5`, …; `None`: not known here.
pub(crate) fn signed(text: &str) -> Option<Signed> {
    if let Some(operand) = operand(text) {
        return Some(Signed { operand, negate: false, absolute: false });
    }
    let (negate, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    // The half of an absolute value stands outside of the bars: `|v3|.h`.
    let (absolute, inner) = match text.strip_prefix('|') {
        Some(rest) => (true, rest.replacen('|', "", 1)),
        None => (false, text.to_owned()),
    };
    Some(Signed { operand: operand(&inner)?, negate, absolute })
}

/// An operand without sign modifiers.
pub(crate) fn operand(text: &str) -> Option<Operand> {
    let special = |first| Some(Operand::Scalar { first, count: 1, half: None });
    match text {
        "vcc_lo" => return special(scalar::VCC),
        "vcc_hi" => return special(scalar::VCC + 1),
        "vcc" => return Some(Operand::Scalar { first: scalar::VCC, count: 2, half: None }),
        "exec_lo" => return special(scalar::EXEC),
        "exec_hi" => return special(scalar::EXEC + 1),
        "m0" => return special(scalar::M0),
        "null" => return special(scalar::NULL),
        "scc" | "src_scc" => return Some(Operand::Scc),
        "off" => return Some(Operand::Off),
        "src_shared_base" | "src_shared_base_hi" => return Some(Operand::Aperture(SHARED_BASE)),
        "src_private_base" | "src_private_base_hi" => return Some(Operand::Aperture(PRIVATE_BASE)),
        "src_shared_limit" | "src_shared_limit_hi" => {
            return Some(Operand::Aperture(SHARED_BASE | 0xffff_ffff));
        }
        "src_private_limit" | "src_private_limit_hi" => {
            return Some(Operand::Aperture(PRIVATE_BASE | 0xffff_ffff));
        }
        _ => {}
    }
    if let Some((first, count, half)) = registers(text, "v") {
        return Some(Operand::Vector { first, count, half });
    }
    if let Some((first, count, half)) = registers(text, "s") {
        return (first < scalar::VCC).then_some(Operand::Scalar { first, count, half });
    }
    if let Some((first, count, half)) = registers(text, "ttmp") {
        return (first < 16).then_some(Operand::Scalar { first: first + scalar::TTMP, count, half });
    }
    if let Some(value) = integer(text) {
        return Some(Operand::Integer(value));
    }
    // 1/(2 pi) is printed with the digits of its type.
    text.contains('.').then(|| text.parse::<f64>().ok()).flatten().map(Operand::Float)
}

/// `v3`, `v3.l`, `v[3:6]`.
fn registers(text: &str, kind: &str) -> Option<(u8, u8, Option<Half>)> {
    let rest = text.strip_prefix(kind)?;
    if let Some(range) = rest.strip_prefix('[') {
        let (first, last) = range.strip_suffix(']')?.split_once(':')?;
        let (first, last) = (first.parse::<u8>().ok()?, last.parse::<u8>().ok()?);
        return Some((first, last.checked_sub(first)?.checked_add(1)?, None));
    }
    let (number, half) = match rest.split_once('.') {
        Some((number, "l")) => (number, Some(Half::Low)),
        Some((number, "h")) => (number, Some(Half::High)),
        Some(_) => return None,
        None => (rest, None),
    };
    Some((number.parse().ok()?, 1, half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling() {
        let vector = |first, count, half| Operand::Vector { first, count, half };
        let scalar = |first, count| Operand::Scalar { first, count, half: None };
        let table = [
            ("v255", vector(255, 1, None)),
            ("v3.h", vector(3, 1, Some(Half::High))),
            ("v[4:7]", vector(4, 4, None)),
            ("s[104:105]", scalar(104, 2)),
            ("ttmp9", scalar(117, 1)),
            ("vcc_lo", scalar(106, 1)),
            ("null", scalar(124, 1)),
            ("scc", Operand::Scc),
            ("-1", Operand::Integer(-1)),
            ("0x3fb8aa3b", Operand::Integer(0x3fb8_aa3b)),
            ("0.5", Operand::Float(0.5)),
            ("-4.0", Operand::Float(-4.0)),
            ("off", Operand::Off),
        ];
        for (text, expected) in table {
            assert_eq!(operand(text), Some(expected), "{text}");
        }
        assert_eq!(["s106", "v256", "ttmp16", "x", "v[5:3]"].map(operand), [None; 5]);
    }

    #[test]
    fn signs() {
        let found = signed("-|v3|.h").expect("known");
        assert!(found.negate && found.absolute);
        assert_eq!(found.operand, Operand::Vector { first: 3, count: 1, half: Some(Half::High) });
        assert!(!signed("-4.0").expect("a constant").negate);
    }
}
