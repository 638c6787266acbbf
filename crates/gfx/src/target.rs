//! The table of targets.

use crate::nearest::all_nearest;
use crate::{DistFamily, Family, ParseError, Tier, Wmma};
use std::fmt;
use std::str::FromStr;

/// A GPU instruction set that code objects are made for. Ordered by number, a family's generic target after its exact ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "a variant is its name; the facts are in the table")]
pub enum Target {
    Gfx1030,
    Gfx1031,
    Gfx1032,
    Gfx1033,
    Gfx1034,
    Gfx1035,
    Gfx1036,
    Gfx10_3Generic,
    Gfx1100,
    Gfx1101,
    Gfx1102,
    Gfx1103,
    Gfx1150,
    Gfx1151,
    Gfx1152,
    Gfx1153,
    Gfx11Generic,
    Gfx1200,
    Gfx1201,
    Gfx12Generic,
}

use Target::*;

/// One target's facts.
struct Row {
    target: Target,
    name: &'static str,
    mach: u32,
    family: Family,
    dist_family: DistFamily,
    cu_count: Option<u32>,
    tier: Tier,
}

const APU: Tier = Tier::Refused { reason: "it is an integrated GPU that upstream names and refuses" };
const SMALL_APU: Tier = Tier::Refused { reason: "it is an integrated GPU that upstream does not support" };
const UNSUPPORTED: Tier =
    Tier::Refused { reason: "upstream does not support it, and nobody has shown it running" };

const fn row(
    target: Target,
    name: &'static str,
    mach: u32,
    family: Family,
    dist_family: DistFamily,
    cu_count: Option<u32>,
    tier: Tier,
) -> Row {
    Row { target, name, mach, family, dist_family, cu_count, tier }
}

/// In the order of the enum.
///
/// - mach: read from the e_flags of an empty kernel that clang 22.1.8 compiled for each target (facts/aiter_ck.md 1.3, LLVM's AMDGPUUsage).
/// - dist family: facts/therock.md, section 1. gfx11-generic spans two dists, so it belongs to multiarch.
/// - CU count: facts/aiter_ck.md 5.1, and 2.4 of facts/strata.md for gfx1036.
/// - tier: facts/strata.md 2.4. A generic object has no card of its own, and no runtime was seen to take one: experimental.
#[rustfmt::skip] // a table reads by columns
const TABLE: [Row; 20] = {
    use DistFamily as Dist;
    use Family::{Rdna2, Rdna3, Rdna35, Rdna4};
    use Tier::{Community, Experimental, Validated};
    [
        row(Gfx1030,        "gfx1030",         0x36, Rdna2,  Dist::Gfx103XAll, None,     Community),
        row(Gfx1031,        "gfx1031",         0x37, Rdna2,  Dist::Gfx103XAll, None,     Experimental),
        row(Gfx1032,        "gfx1032",         0x38, Rdna2,  Dist::Gfx103XAll, None,     UNSUPPORTED),
        row(Gfx1033,        "gfx1033",         0x39, Rdna2,  Dist::Gfx103XAll, None,     SMALL_APU),
        row(Gfx1034,        "gfx1034",         0x3e, Rdna2,  Dist::Gfx103XAll, None,     UNSUPPORTED),
        row(Gfx1035,        "gfx1035",         0x3d, Rdna2,  Dist::Gfx103XAll, None,     SMALL_APU),
        row(Gfx1036,        "gfx1036",         0x45, Rdna2,  Dist::Gfx103XAll, Some(2),  SMALL_APU),
        row(Gfx10_3Generic, "gfx10-3-generic", 0x53, Rdna2,  Dist::Gfx103XAll, None,     Experimental),
        row(Gfx1100,        "gfx1100",         0x41, Rdna3,  Dist::Gfx110XAll, Some(96), Validated),
        row(Gfx1101,        "gfx1101",         0x46, Rdna3,  Dist::Gfx110XAll, Some(60), Community),
        row(Gfx1102,        "gfx1102",         0x47, Rdna3,  Dist::Gfx110XAll, Some(32), Community),
        row(Gfx1103,        "gfx1103",         0x44, Rdna3,  Dist::Gfx110XAll, Some(12), APU),
        row(Gfx1150,        "gfx1150",         0x43, Rdna35, Dist::Gfx1150,    Some(16), Experimental),
        row(Gfx1151,        "gfx1151",         0x4a, Rdna35, Dist::Gfx1151,    Some(40), Experimental),
        row(Gfx1152,        "gfx1152",         0x55, Rdna35, Dist::Gfx1152,    None,     APU),
        row(Gfx1153,        "gfx1153",         0x58, Rdna35, Dist::Gfx1153,    None,     SMALL_APU),
        row(Gfx11Generic,   "gfx11-generic",   0x54, Rdna3,  Dist::Multiarch,  None,     Experimental),
        row(Gfx1200,        "gfx1200",         0x48, Rdna4,  Dist::Gfx120XAll, Some(32), Community),
        row(Gfx1201,        "gfx1201",         0x4e, Rdna4,  Dist::Gfx120XAll, Some(64), Validated),
        row(Gfx12Generic,   "gfx12-generic",   0x59, Rdna4,  Dist::Gfx120XAll, None,     Experimental),
    ]
};

impl Target {
    /// Every target, ordered.
    pub const ALL: &[Self] = &{
        let mut all = [Gfx1030; TABLE.len()];
        let mut i = 0;
        while i < TABLE.len() {
            all[i] = TABLE[i].target;
            i += 1;
        }
        all
    };

    fn row(self) -> &'static Row {
        static ROWS: [Row; TABLE.len()] = TABLE;
        &ROWS[self as usize]
    }

    /// Takes what people and runtimes write: any case, and the features of `gcnArchName` after it, which RDNA has no use for:
    /// `gfx1201`, `GFX1201`, `gfx1030:sramecc-:xnack-`.
    ///
    /// # Errors
    /// [`ParseError::Unknown`] with the nearest names, [`ParseError::Feature`], or [`ParseError::Empty`].
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ParseError::Empty);
        }
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let target = Self::ALL.iter().copied().find(|target| target.name().eq_ignore_ascii_case(name));
        let target = target.ok_or_else(|| unknown(name, &[]))?;
        let is_wrong = |part: &&str| !matches!(part.strip_suffix(['+', '-']), Some("sramecc" | "xnack"));
        match parts.find(is_wrong) {
            Some(feature) => Err(ParseError::Feature { name: text.to_owned(), feature: feature.to_owned() }),
            None => Ok(target),
        }
    }

    /// The first of the targets that LLVM makes the same code for, up to the target's name; itself where there are no others.
    ///
    /// LLVM 22, AMDGPU.td: gfx1200 and gfx1201 are one list of features, gfx1150 and gfx1152 equal ones; gfx1153's lacks one that concerns
    /// image instructions alone. Others of a family differ in registers or in hardware bugs.
    pub fn compiled_as(self) -> Self {
        match self {
            Gfx1152 | Gfx1153 => Gfx1150,
            Gfx1201 => Gfx1200,
            other => other,
        }
    }

    /// The target whose code objects carry this machine number in their e_flags (the low byte, `EF_AMDGPU_MACH`).
    pub fn from_mach(mach: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|target| target.mach() == mach)
    }

    /// As clang's `--offload-arch` takes it, e.g. `gfx1201`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The generation. gfx11-generic is RDNA 3, and RDNA 3.5 runs it.
    pub fn family(self) -> Family {
        self.row().family
    }

    /// The smallest TheRock dist that holds libraries for it.
    pub fn dist_family(self) -> DistFamily {
        self.row().dist_family
    }

    /// `EF_AMDGPU_MACH`, the low byte of a code object's e_flags.
    pub fn mach(self) -> u32 {
        self.row().mach
    }

    /// Whether it is the common subset of a whole family instead of one chip's instruction set.
    pub fn is_generic(self) -> bool {
        matches!(self, Gfx10_3Generic | Gfx11Generic | Gfx12Generic)
    }

    /// The generic target whose code objects run on this one too; a generic target has none.
    pub fn generic(self) -> Option<Self> {
        if self.is_generic() {
            return None;
        }
        Some(match self.family() {
            Family::Rdna2 => Gfx10_3Generic,
            Family::Rdna3 | Family::Rdna35 => Gfx11Generic,
            Family::Rdna4 => Gfx12Generic,
        })
    }

    /// The targets whose code objects run on this one, the best first: itself, then its generic one.
    pub fn runs(self) -> impl Iterator<Item = Self> {
        std::iter::once(self).chain(self.generic())
    }

    /// What is known of it.
    pub fn tier(self) -> Tier {
        self.row().tier
    }

    /// Lanes of a wavefront. RDNA can do 64 too; every code object of this project is wave32.
    pub fn wave_size(self) -> u32 {
        32
    }

    /// The compute units of the largest part with this target, for use when there is no device to ask; `None` where no source says.
    /// HIP's `multiProcessorCount` is half of it: it counts work-group processors (facts/aiter_ck.md 5.1).
    pub fn cu_count(self) -> Option<u32> {
        self.row().cu_count
    }

    /// The most LDS of a workgroup, in bytes (facts/aiter_ck.md 5.7).
    pub fn lds_size(self) -> u32 {
        64 << 10
    }

    /// The generation of its matrix instructions; RDNA 2 has none.
    pub fn wmma(self) -> Option<Wmma> {
        match self.family() {
            Family::Rdna2 => None,
            Family::Rdna3 | Family::Rdna35 => Some(Wmma::Gfx11),
            Family::Rdna4 => Some(Wmma::Gfx12),
        }
    }
}

/// The error for a name that is neither a target nor one of `others`.
pub(crate) fn unknown(name: &str, others: &[&'static str]) -> ParseError {
    let known: Vec<&'static str> =
        Target::ALL.iter().map(|target| target.name()).chain(others.iter().copied()).collect();
    ParseError::Unknown { name: name.to_owned(), nearest: all_nearest(name, known.iter().copied()), known }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Target {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_follows_the_enum() {
        for (i, target) in Target::ALL.iter().enumerate() {
            assert_eq!(*target as usize, i);
            assert_eq!(target.row().target, *target);
            assert_eq!(Target::from_mach(target.mach()), Some(*target));
            assert_eq!(Target::parse(target.name()), Ok(*target));
        }
        assert!(Target::ALL.is_sorted());
    }

    #[test]
    fn what_people_write_is_taken() {
        for text in ["gfx1030", "GFX1030", " gfx1030 ", "gfx1030:sramecc-:xnack-", "gfx1030:xnack+"] {
            assert_eq!(Target::parse(text), Ok(Gfx1030), "{text}");
        }
        assert_eq!("GFX11-Generic".parse(), Ok(Gfx11Generic));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let message = |text| Target::parse(text).expect_err(text).to_string();
        assert_eq!(message("gfx1210"), "unknown target `gfx1210`; did you mean `gfx1200`?");
        assert_eq!(message("gfx120"), "unknown target `gfx120`; did you mean `gfx1200` or `gfx1201`?");
        assert_eq!(
            message("gfx1104"),
            "unknown target `gfx1104`; did you mean `gfx1100`, `gfx1101`, `gfx1102` or `gfx1103`?"
        );
        assert!(message("sm_89").starts_with("unknown target `sm_89`; known are gfx1030, gfx1031"));
        assert!(message("gfx1030:xnak-").contains("unknown feature `xnak-`"));
        assert!(message("gfx1030:").contains("unknown feature ``"));
        assert_eq!(message("  "), "no target is named");
    }

    #[test]
    fn generic_objects_run_on_their_whole_family() {
        let runs = |target: Target| target.runs().map(Target::name).collect::<Vec<_>>();
        assert_eq!(runs(Gfx1036), ["gfx1036", "gfx10-3-generic"]);
        assert_eq!(runs(Gfx1151), ["gfx1151", "gfx11-generic"]);
        assert_eq!(runs(Gfx1201), ["gfx1201", "gfx12-generic"]);
        assert_eq!(runs(Gfx12Generic), ["gfx12-generic"]);
    }

    #[test]
    fn matrix_instructions_follow_the_generation() {
        assert_eq!(Gfx1030.wmma(), None);
        assert_eq!(Gfx1150.wmma(), Some(Wmma::Gfx11));
        assert_eq!(Gfx1200.wmma(), Some(Wmma::Gfx12));
        assert!(!Wmma::Gfx11.data_types().contains(&crate::DataType::Fp8));
    }

    #[test]
    fn display_pads() {
        assert_eq!(format!("{Gfx1201:<10}|"), "gfx1201   |");
    }
}
