//! What is wrong with a name that somebody wrote.

use crate::DistFamily;
use std::fmt;

/// Text that names no target or selection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Nothing but separators.
    #[error("no target is named")]
    Empty,
    /// A name that is not known.
    #[error("unknown target `{name}`{}", Suggestion { nearest, known })]
    Unknown {
        /// As it was written.
        name: String,
        /// The known names that are most like it; empty when none is.
        nearest: Vec<&'static str>,
        /// Every name that would have been taken.
        known: Vec<&'static str>,
    },
    /// A known target with a suffix that is no feature: `gfx1030:xnak-`.
    #[error(
        "target `{name}` has an unknown feature `{feature}`: features are `sramecc` and `xnack`, each with `+` or `-`"
    )]
    Feature {
        /// As it was written.
        name: String,
        /// The part that is wrong.
        feature: String,
    },
}

/// A selection that cannot be carried out. `E` is what asking the machine for its GPUs can fail with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError<E> {
    /// `native`, and the machine did not say.
    #[error(transparent)]
    Native(E),
    /// A family, and none of its targets is among the available ones.
    #[error("no target of `{0}` can be built here")]
    EmptyFamily(DistFamily),
    /// `all` or `native` came to nothing.
    #[error("the selection holds no target")]
    Empty,
}

/// "; did you mean ...", or the list of all names.
struct Suggestion<'a> {
    nearest: &'a [&'static str],
    known: &'a [&'static str],
}

impl fmt::Display for Suggestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nearest {
            [] => write!(f, "; known are {}", self.known.join(", ")),
            [only] => write!(f, "; did you mean `{only}`?"),
            [most @ .., last] => write!(f, "; did you mean `{}` or `{last}`?", most.join("`, `")),
        }
    }
}
