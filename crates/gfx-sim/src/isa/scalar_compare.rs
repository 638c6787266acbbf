//! Scalar comparisons, which write SCC: `s_cmp_<condition>_<type>`, `s_cmpk_…` with a 16-bit constant, and `s_bitcmp`.

use super::{Comparison, Env};
use crate::number::Mode;

/// What `name` compares; the flag says that its constant has 16 bits.
pub(crate) fn scalar_comparison(name: &str) -> Option<(Comparison, bool)> {
    let (rest, has_constant) = match name.strip_prefix("s_cmpk_") {
        Some(rest) => (rest, true),
        None => (name.strip_prefix("s_cmp_")?, false),
    };
    // The scalar unit says lg where the vector unit says ne: of whole numbers it is the same.
    Comparison::parse(rest).map(|comparison| (comparison, has_constant))
}

impl Comparison {
    /// Whether it holds for two scalars.
    pub(crate) fn holds_of_scalars(self, mode: Mode, a: u64, b: u64) -> bool {
        self.holds(Env { mode, lane: 0, vcc: false }, a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let (comparison, has_constant) = scalar_comparison("s_cmpk_lg_u32").expect("known");
        assert!(has_constant && comparison.holds_of_scalars(Mode(0), 1, 2));
        let (comparison, _) = scalar_comparison("s_cmp_eq_u64").expect("known");
        assert!(!comparison.holds_of_scalars(Mode(0), 1 << 32, 0));
        assert_eq!(scalar_comparison("s_cmov_b32"), None);
    }
}
