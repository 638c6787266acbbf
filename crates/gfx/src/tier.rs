//! How far a target is known to run Strata.

use std::fmt;

/// What is known of upstream's engine on a target (facts/strata.md 2.4). It says nothing about kernels that merely compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Upstream's maintainer runs it.
    Validated,
    /// Users reported that it runs.
    Community,
    /// It builds, and few or no reports say that it runs.
    Experimental,
    /// It is not expected to run.
    Refused {
        /// Why, as a clause: "it is ...".
        reason: &'static str,
    },
}

impl Tier {
    /// One word for tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Validated => "validated",
            Self::Community => "community",
            Self::Experimental => "experimental",
            Self::Refused { .. } => "refused",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { reason } => write!(f, "refused: {reason}"),
            other => f.write_str(other.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_why() {
        assert_eq!(Tier::Refused { reason: "it has no WMMA" }.to_string(), "refused: it has no WMMA");
        assert_eq!(Tier::Community.to_string(), "community");
    }
}
