//! What targets have in common: the architecture generation, and the dist that AMD builds for a group of them.

use crate::Target;
use std::fmt;

/// An RDNA generation. One instruction set each, so what holds for one member's instructions holds for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// gfx103x: no matrix instructions.
    Rdna2,
    /// gfx110x: the first WMMA.
    Rdna3,
    /// gfx115x: RDNA 3 in APUs, with scalar float instructions.
    Rdna35,
    /// gfx120x: the second WMMA, with fp8.
    Rdna4,
}

impl Family {
    /// The generation as AMD writes it, e.g. `RDNA 3.5`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rdna2 => "RDNA 2",
            Self::Rdna3 => "RDNA 3",
            Self::Rdna35 => "RDNA 3.5",
            Self::Rdna4 => "RDNA 4",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The family part of a TheRock dist's file name, `therock-dist-<platform>-<family>-<version>.tar.gz`
/// (facts/therock.md, section 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DistFamily {
    /// `gfx103X-all`; up to 7.11 it was called `gfx103X-dgpu`.
    Gfx103XAll,
    /// `gfx110X-all`; the older `gfx110X-dgpu` had no gfx1103.
    Gfx110XAll,
    /// `gfx1150`, a dist for one target.
    Gfx1150,
    /// `gfx1151`, a dist for one target.
    Gfx1151,
    /// `gfx1152`, a dist for one target.
    Gfx1152,
    /// `gfx1153`, a dist for one target.
    Gfx1153,
    /// `gfx120X-all`.
    Gfx120XAll,
    /// `multiarch`: every target in one dist.
    Multiarch,
}

impl DistFamily {
    /// Every dist family.
    pub const ALL: &[Self] = &[
        Self::Gfx103XAll,
        Self::Gfx110XAll,
        Self::Gfx1150,
        Self::Gfx1151,
        Self::Gfx1152,
        Self::Gfx1153,
        Self::Gfx120XAll,
        Self::Multiarch,
    ];

    /// As it stands in the file name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gfx103XAll => "gfx103X-all",
            Self::Gfx110XAll => "gfx110X-all",
            Self::Gfx1150 => "gfx1150",
            Self::Gfx1151 => "gfx1151",
            Self::Gfx1152 => "gfx1152",
            Self::Gfx1153 => "gfx1153",
            Self::Gfx120XAll => "gfx120X-all",
            Self::Multiarch => "multiarch",
        }
    }

    /// The exact targets that the dist has libraries for, in numeric order. Generic targets need no library of their own.
    pub fn targets(self) -> impl Iterator<Item = Target> {
        let is_member = move |target: &Target| self == Self::Multiarch || target.dist_family() == self;
        Target::ALL.iter().copied().filter(|target| !target.is_generic()).filter(is_member)
    }
}

impl fmt::Display for DistFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(family: DistFamily) -> Vec<&'static str> {
        family.targets().map(Target::name).collect()
    }

    #[test]
    fn a_dist_holds_its_exact_targets() {
        assert_eq!(names(DistFamily::Gfx110XAll), ["gfx1100", "gfx1101", "gfx1102", "gfx1103"]);
        assert_eq!(names(DistFamily::Gfx120XAll), ["gfx1200", "gfx1201"]);
        assert_eq!(names(DistFamily::Gfx1151), ["gfx1151"]);
        assert_eq!(names(DistFamily::Gfx103XAll).len(), 7);
        assert_eq!(names(DistFamily::Multiarch).len(), 17);
    }

    #[test]
    fn every_exact_target_is_in_a_family_that_is_not_multiarch() {
        for target in Target::ALL.iter().filter(|target| !target.is_generic()) {
            assert_ne!(target.dist_family(), DistFamily::Multiarch, "{target}");
        }
    }
}
