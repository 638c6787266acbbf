//! How much device memory a context takes, before any of it is taken.

use serde::Serialize;

/// The part of a model that the KV cache depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KvShape {
    /// Layers that keep keys and values.
    pub layers: u64,
    /// Heads of keys, and as many of values.
    pub kv_heads: u64,
    /// Numbers of a head.
    pub head_dim: u64,
    /// Bytes of a number.
    pub element_bytes: u64,
}

/// The context that the report plans for (facts/strata.md 1.5).
pub const CONTEXT: u64 = 20_480;
/// What is left to the desktop and the driver: upstream's default (facts/strata.md 1.4, `--vram-reserve-mib`).
pub const RESERVE: u64 = 700 << 20;
/// The arena that the self-test poisons (facts/strata.md 1.5).
pub const ARENA: u64 = 64 << 20;
/// 48 layers (facts/strata.md 1.1) with fp16 keys and values. The number of heads and their size are those of the Qwen3-Next line; every layer is
/// counted although the linear ones keep no cache, so this is an upper bound until a model is loaded.
pub const SHAPE: KvShape = KvShape { layers: 48, kv_heads: 2, head_dim: 256, element_bytes: 2 };

/// What the memory is for, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Cells of the context.
    pub context: u64,
    /// Keys and values of all cells.
    pub kv_cache: u64,
    /// Scratch of the kernels.
    pub arena: u64,
    /// Left free.
    pub reserve: u64,
    /// All of the above.
    pub total: u64,
}

/// A context so large that its bytes cannot be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a context of {0} cells takes more bytes than can be counted")]
pub struct TooLarge(pub u64);

impl Plan {
    /// The plan for `context` cells of `shape`.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn new(context: u64, shape: KvShape) -> Result<Self, TooLarge> {
        let factors = [shape.layers, 2, shape.kv_heads, shape.head_dim, shape.element_bytes];
        let kv_cache = factors.into_iter().try_fold(context, u64::checked_mul).ok_or(TooLarge(context))?;
        let total = kv_cache.checked_add(ARENA + RESERVE).ok_or(TooLarge(context))?;
        Ok(Self { context, kv_cache, arena: ARENA, reserve: RESERVE, total })
    }

    /// Whether it fits into `free` bytes.
    pub fn fits(&self, free: u64) -> bool {
        self.total <= free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_plan() {
        let plan = Plan::new(CONTEXT, SHAPE).expect("a plan");
        assert_eq!(plan.kv_cache, 20_480 * 98_304);
        assert_eq!(plan.total, 20_480 * 98_304 + (764 << 20));
        assert!(plan.fits(plan.total) && !plan.fits(plan.total - 1));
    }

    #[test]
    fn bytes_that_cannot_be_counted() {
        assert_eq!(Plan::new(u64::MAX, SHAPE), Err(TooLarge(u64::MAX)));
        assert_eq!(Plan::new(u64::MAX / 98_304, SHAPE), Err(TooLarge(u64::MAX / 98_304)));
    }
}
