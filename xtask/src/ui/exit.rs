//! How the process ends.

/// The exit codes (docs/architecture.md, "Exit codes").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Anything without a code of its own.
    Failed = 1,
    /// What the user typed does not make sense.
    Usage = 2,
    /// A hash or the lock does not match.
    Mismatch = 3,
    /// The network.
    Network = 4,
    /// No space.
    NoSpace = 5,
    /// Something that has to be there first is not.
    Prerequisite = 6,
    /// A panic: Rust's own code for it.
    Bug = 101,
    /// Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// In words, for the catalogue.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Mismatch => "a hash or the lock does not match",
            Self::Network => "network",
            Self::NoSpace => "no space",
            Self::Prerequisite => "a prerequisite is missing",
            Self::Bug => "a defect of xtask",
            Self::Interrupted => "interrupted",
        }
    }
}
