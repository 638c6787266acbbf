//! What is said of one kernel.

use super::{DataType, Operation};
use crate::args::{
    ActivationArgs, AppendKvArgs, FmhaCombineArgs, FmhaFwdArgs, FmhaPagedArgs, FmhaSplitKvArgs, Geometry,
    NormArgs, QuantiseArgs, RopeArgs,
};
use gfx::{Target, Wmma};

/// How the sequences of a batch lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Every sequence has the same length; `[batch, row, head, head dim]`.
    Dense,
    /// Sequences of any length one after the other, with their row offsets; `[row of all sequences, head, head dim]`.
    Varlen,
    /// Queries as in `Varlen`, keys and values in pages of a cache.
    Paged,
}

impl Mode {
    /// As kernels spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Varlen => "varlen",
            Self::Paged => "paged",
        }
    }
}

/// The block of the output that one work-group makes, and how far it steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Rows of the output.
    pub m: u32,
    /// Columns of one step: keys of attention, elements of a row of an activation.
    pub n: u32,
}

/// What attention adds to an [`Instance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attention {
    /// Elements of one head of q, k, v and o; exact.
    pub head_dim: u32,
    /// How the sequences may lie.
    pub modes: &'static [Mode],
    /// Whether the kernel takes a window (causal, sliding, open). Without one every query sees every key.
    pub masked: bool,
    /// Whether the kernel takes a soft cap of the scores; 0 is none.
    pub soft_cap: bool,
    /// Step along the head dim of the first product, q k^T.
    pub k0: u32,
    /// Step along the keys of the second product, p v: on gfx11 and on gfx12.
    pub k1: [u32; 2],
}

impl Attention {
    /// Work-groups that share the columns of v and o of one head (`value_parts` in `native/fmha/instance.h`).
    pub fn value_parts(&self) -> u32 {
        self.head_dim.div_ceil(128)
    }
}

/// Which argument block a kernel takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentBlock {
    /// [`FmhaFwdArgs`].
    FmhaFwd,
    /// [`FmhaPagedArgs`].
    FmhaPaged,
    /// [`FmhaSplitKvArgs`].
    FmhaSplitKv,
    /// [`FmhaCombineArgs`].
    FmhaCombine,
    /// [`ActivationArgs`].
    Activation,
    /// [`NormArgs`].
    Norm,
    /// [`QuantiseArgs`].
    Quantise,
    /// [`RopeArgs`].
    Rope,
    /// [`AppendKvArgs`].
    AppendKv,
}

impl ArgumentBlock {
    /// Bytes of the block.
    pub const fn size(self) -> usize {
        match self {
            Self::FmhaFwd => size_of::<FmhaFwdArgs>(),
            Self::FmhaPaged => size_of::<FmhaPagedArgs>(),
            Self::FmhaSplitKv => size_of::<FmhaSplitKvArgs>(),
            Self::FmhaCombine => size_of::<FmhaCombineArgs>(),
            Self::Activation => size_of::<ActivationArgs>(),
            Self::Norm => size_of::<NormArgs>(),
            Self::Quantise => size_of::<QuantiseArgs>(),
            Self::Rope => size_of::<RopeArgs>(),
            Self::AppendKv => size_of::<AppendKvArgs>(),
        }
    }
}

/// What one kernel may take of a compute unit; the build refuses an object that takes more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The targets it holds for; a kernel exists for the generations that have a budget.
    pub wmma: Wmma,
    /// Vector registers of one lane. 192 still lets eight waves share a SIMD of 1536.
    pub vgprs: u32,
    /// Bytes of LDS of one work-group; exact, and at most 65,536.
    pub lds_bytes: u32,
    /// Bytes of scratch of one lane: spills, and stack that LLVM could not promote.
    pub scratch_bytes: u32,
}

/// What kernels take on targets for which the compiler makes worse code than for the others of their generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exception {
    /// The targets.
    pub targets: &'static [Target],
    /// The kernels, by their symbols.
    pub entries: &'static [&'static str],
    /// In place of [`Budget::vgprs`].
    pub vgprs: u32,
    /// In place of [`Budget::scratch_bytes`].
    pub scratch_bytes: u32,
}

/// One kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instance {
    /// The kernel's symbol. Its geometry is `<entry>_geometry`.
    pub entry: &'static str,
    /// The file that holds it, without `.co`.
    pub code_object: &'static str,
    /// What it computes.
    pub operation: Operation,
    /// The type of its tensors.
    pub data_type: DataType,
    /// What one work-group makes.
    pub tile: Tile,
    /// Waves (of 32 lanes) in a work-group.
    pub warps: u32,
    /// Set for attention.
    pub attention: Option<Attention>,
    /// What it is launched with.
    pub arguments: ArgumentBlock,
    /// One for each generation of matrix instructions that it is compiled for.
    pub budgets: &'static [Budget],
}

impl Instance {
    /// Its budget on targets with these matrix instructions; `None`: it does not exist there.
    pub fn budget(&self, wmma: Wmma) -> Option<&'static Budget> {
        self.budgets.iter().find(|budget| budget.wmma == wmma)
    }

    /// What the code object for such a target must say under [`Instance::geometry_symbol`]; `None`: there is no such object.
    pub fn geometry(&self, wmma: Wmma) -> Option<Geometry> {
        Some(Geometry {
            threads: self.warps * 32,
            tile_m: self.tile.m,
            tile_n: self.tile.n,
            head_dim: self.attention.map_or(0, |a| a.head_dim),
            argument_bytes: self.arguments.size() as u32,
            lds_bytes: self.budget(wmma)?.lds_bytes,
            reserved: [0, 0],
        })
    }

    /// The symbol of its geometry.
    pub fn geometry_symbol(&self) -> String {
        format!("{}_geometry", self.entry)
    }
}
