use super::{Device, DispatchError, Launch};
use crate::catalogue::{DataType, Instance, Mode, Operation, instances};
use gfx::Wmma;

pub use crate::reference::Mask as Window;

/// How queries and keys lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `[batch, row, head, head dim]`, every sequence of the same length.
    Dense,
    /// `[row of all sequences, head, head dim]` with row offsets.
    Varlen,
    /// Queries as in `Varlen` (or one a sequence), keys in pages of this many rows.
    Paged {
        /// Rows of a page.
        page_rows: u32,
    },
}

/// The shape of an attention problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttentionProblem {
    /// Type of q, k, v and o.
    pub data_type: DataType,
    /// Elements of a head of q, k, v and o.
    pub head_dim: u32,
    /// Heads of q.
    pub heads: u32,
    /// Heads of k and v.
    pub kv_heads: u32,
    /// Sequences.
    pub batch: u32,
    /// Rows of q of the longest sequence.
    pub max_queries: u32,
    /// Rows of k of the longest sequence.
    pub max_keys: u32,
    /// How they lie.
    pub layout: Layout,
    /// Which keys a query sees.
    pub window: Window,
    /// Whether the scores are bounded by a soft cap.
    pub soft_cap: bool,
}

/// What to launch for attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionPlan {
    /// One kernel.
    Single(Launch),
    /// The keys of each sequence in parts, then the parts together.
    Split {
        /// Parts of each sequence.
        splits: u32,
        /// The split-KV kernel.
        parts: Launch,
        /// The combine kernel.
        combine: Launch,
        /// f32 elements of `o_parts`; `lse_parts` has one for each `head_dim` of them.
        o_parts: u64,
    },
}

/// Waves that keep a compute unit's two SIMDs busy while others wait for memory. Not measured: no GPU at hand.
const WAVES_PER_CU: u64 = 8;
/// Keys below which a part costs more than it saves.
const KEYS_PER_SPLIT: u64 = 128;
/// More parts than this and combining them is no longer cheap.
const MOST_SPLITS: u64 = 128;

/// The launches for an attention problem on a device.
///
/// # Errors
/// [`DispatchError`], which names the argument: a target, head dim or type without an instance, heads that are not shared out evenly, pages
/// that do not hold whole tiles, a count of zero, or a grid beyond the hardware's.
pub fn attention(device: Device, problem: &AttentionProblem) -> Result<AttentionPlan, DispatchError> {
    let wmma = device.target.wmma().ok_or(DispatchError::Target { target: device.target })?;
    check(problem)?;
    let tiles = |instance: &Instance| u64::from(problem.max_queries.div_ceil(instance.tile.m));
    let heads = |instance: &Instance| ("heads", u64::from(problem.heads) * value_parts(instance));
    let batch = ("batch", u64::from(problem.batch));
    match problem.layout {
        Layout::Dense | Layout::Varlen => {
            let mode = if problem.layout == Layout::Dense { Mode::Dense } else { Mode::Varlen };
            let instance = contiguous(wmma, problem, mode)?;
            Launch::new(instance, [heads(instance), ("max_queries", tiles(instance)), batch])
                .map(AttentionPlan::Single)
        }
        Layout::Paged { page_rows } if problem.max_queries == 1 && sees_all(problem.window) => {
            let instance = paged(wmma, problem, Operation::FmhaSplitKv, page_rows)?;
            split(device, wmma, problem, instance)
        }
        Layout::Paged { page_rows } => {
            let instance = paged(wmma, problem, Operation::FmhaPaged, page_rows)?;
            Launch::new(instance, [heads(instance), batch, ("max_queries", tiles(instance))])
                .map(AttentionPlan::Single)
        }
    }
}

fn check(problem: &AttentionProblem) -> Result<(), DispatchError> {
    let &AttentionProblem { heads, kv_heads, batch, max_queries, .. } = problem;
    for (argument, count) in [("heads", heads), ("batch", batch), ("max_queries", max_queries)] {
        if count == 0 {
            return Err(DispatchError::Zero { argument });
        }
    }
    if kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
        return Err(DispatchError::KvHeads { heads, kv_heads });
    }
    Ok(())
}

/// Whether the only query of a sequence sees every key.
fn sees_all(window: Window) -> bool {
    use crate::reference::Origin::BottomRight;
    matches!(window, Window::None | Window::Window { left: None, origin: BottomRight, .. })
}

/// Work-groups that share a head.
fn value_parts(instance: &Instance) -> u64 {
    instance.attention.map_or(1, |attention| attention.value_parts().into())
}

/// The instance without a mask, and without a soft cap, where one will do and exists; else the one that takes an open window or a cap of 0.
fn contiguous(
    wmma: Wmma,
    problem: &AttentionProblem,
    mode: Mode,
) -> Result<&'static Instance, DispatchError> {
    let is_windowed = problem.window != Window::None;
    candidates(wmma, problem, Operation::FmhaFwd)?
        .into_iter()
        .filter_map(|instance| Some((instance, instance.attention?)))
        .filter(|(_, a)| a.modes.contains(&mode) && (a.masked || !is_windowed))
        .min_by_key(|(_, a)| (a.masked, a.soft_cap))
        .map(|(instance, _)| instance)
        .ok_or_else(|| no_head_dim(wmma, problem, Operation::FmhaFwd))
}

/// The instance with the largest tile of keys that a page holds whole.
fn paged(
    wmma: Wmma,
    problem: &AttentionProblem,
    operation: Operation,
    page_rows: u32,
) -> Result<&'static Instance, DispatchError> {
    let candidates = candidates(wmma, problem, operation)?;
    let smallest = candidates.iter().map(|i| i.tile.n).min().unwrap_or_default();
    let fitting = |i: &&Instance| page_rows > 0 && page_rows.is_multiple_of(i.tile.n);
    let best = candidates.into_iter().filter(fitting).max_by_key(|i| i.tile.n);
    best.ok_or(DispatchError::PageRows { page_rows, smallest })
}

/// The instances of this type and head dim; never empty.
fn candidates(
    wmma: Wmma,
    problem: &AttentionProblem,
    operation: Operation,
) -> Result<Vec<&'static Instance>, DispatchError> {
    let of_type = || instances(operation, wmma).filter(|i| i.data_type == problem.data_type);
    if of_type().next().is_none() {
        return Err(DispatchError::DataType { operation, data_type: problem.data_type.name() });
    }
    let is = |i: &&Instance| {
        i.attention.is_some_and(|a| a.head_dim == problem.head_dim && (a.soft_cap || !problem.soft_cap))
    };
    let found: Vec<_> = of_type().filter(is).collect();
    if found.is_empty() { Err(no_head_dim(wmma, problem, operation)) } else { Ok(found) }
}

fn no_head_dim(wmma: Wmma, problem: &AttentionProblem, operation: Operation) -> DispatchError {
    let of_type = instances(operation, wmma).filter(|i| i.data_type == problem.data_type);
    let mut known: Vec<u32> = of_type.filter_map(|i| i.attention.map(|a| a.head_dim)).collect();
    known.sort_unstable();
    known.dedup();
    let (head_dim, data_type) = (problem.head_dim, problem.data_type.name());
    DispatchError::HeadDim { operation, data_type, head_dim, known }
}

fn split(
    device: Device,
    wmma: Wmma,
    problem: &AttentionProblem,
    instance: &'static Instance,
) -> Result<AttentionPlan, DispatchError> {
    let (heads, batch) = (u64::from(problem.heads), u64::from(problem.batch));
    let kv_heads = u64::from(problem.kv_heads);
    let tiles = (heads / kv_heads).div_ceil(instance.tile.m.into());

    // As many parts as fill the device, but none that has almost nothing to do.
    let groups = tiles * value_parts(instance);
    let waves = groups * kv_heads * batch * u64::from(instance.warps);
    let wanted = (u64::from(device.compute_units) * WAVES_PER_CU).div_ceil(waves);
    let most = (u64::from(problem.max_keys) / KEYS_PER_SPLIT).clamp(1, MOST_SPLITS);
    let splits = wanted.clamp(1, most);

    let combine = instances(Operation::FmhaCombine, wmma).find(|i| i.data_type == problem.data_type);
    let combine = combine.ok_or(DispatchError::DataType {
        operation: Operation::FmhaCombine,
        data_type: problem.data_type.name(),
    })?;
    Ok(AttentionPlan::Split {
        splits: splits as u32, // at most MOST_SPLITS
        parts: Launch::new(instance, [("heads", groups * splits), ("kv_heads", kv_heads), ("batch", batch)])?,
        combine: Launch::new(combine, [("heads", heads), ("batch", batch), ("planes", 1)])?,
        o_parts: batch * heads * splits * u64::from(problem.head_dim),
    })
}
