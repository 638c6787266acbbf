use crate::catalogue::Operation;
use gfx::Target;

/// A problem that no kernel of the catalogue computes. The message names the argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DispatchError {
    /// The target has no matrix instructions, or none that the catalogue knows.
    #[error("target: {target} has no kernels here; RDNA3, RDNA3.5 and RDNA4 have")]
    Target {
        /// The target.
        target: Target,
    },
    /// There is no instance for this head dim and type.
    #[error("head_dim: {operation} has no {data_type} kernel for a head dim of {head_dim}; it has {known:?}")]
    HeadDim {
        /// The operation.
        operation: Operation,
        /// The type's name.
        data_type: &'static str,
        /// What was asked for.
        head_dim: u32,
        /// What the catalogue has for the type.
        known: Vec<u32>,
    },
    /// There is no instance for this type.
    #[error("data_type: {operation} has no {data_type} kernel")]
    DataType {
        /// The operation.
        operation: Operation,
        /// The type's name.
        data_type: &'static str,
    },
    /// The query heads are not shared out evenly.
    #[error("kv_heads: {kv_heads} does not divide {heads} query heads")]
    KvHeads {
        /// Heads of q.
        heads: u32,
        /// Heads of k and v.
        kv_heads: u32,
    },
    /// A page that does not hold whole tiles would give wrong numbers, silently.
    #[error("page_rows: {page_rows} is no multiple of {smallest}, the smallest tile of keys")]
    PageRows {
        /// Rows of a page.
        page_rows: u32,
        /// The smallest tile of keys that an instance has.
        smallest: u32,
    },
    /// The hardware's limit on work-groups.
    #[error("{dimension}: {groups} work-groups, a grid has at most {limit}")]
    Grid {
        /// What is counted along this side of the grid.
        dimension: &'static str,
        /// How many there would be.
        groups: u64,
        /// The most there can be.
        limit: u64,
    },
    /// A number without which there is nothing to compute.
    #[error("{argument}: must not be zero")]
    Zero {
        /// The argument's name.
        argument: &'static str,
    },
}
