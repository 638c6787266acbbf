//! Memory that steps work in: taken from a card once, and used again and again.

use hip::DeviceBuffer;
use std::sync::{Arc, Mutex, PoisonError};

/// Memory of one card that nobody uses just now.
///
/// All work of a card is queued on one stream, so memory that was given back may still be in use by work that was queued before, but not by work
/// that is queued after.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<DeviceBuffer>>);

/// Bytes that one is larger at most than what is asked for, times.
const WASTE: usize = 2;
/// Sizes are multiples of this, so that those of neighbouring steps are alike.
const GRAIN: usize = 4096;

/// The size that is taken for `bytes`.
pub(super) fn size_for(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(GRAIN)
}

impl Pool {
    /// Memory for `bytes` that was used before, the smallest that will do.
    pub(super) fn take(&self, bytes: usize) -> Option<DeviceBuffer> {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let size = size_for(bytes);
        let sizes = free.iter().enumerate().map(|(place, buffer)| (buffer.len(), place));
        let best = sizes.filter(|(len, _)| (size..=size * WASTE).contains(len)).min()?;
        Some(free.swap_remove(best.1))
    }

    fn put(&self, buffer: DeviceBuffer) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

/// Memory of a pool, given back when it is dropped.
pub(super) struct Pooled {
    buffer: Option<DeviceBuffer>,
    pool: Arc<Pool>,
}

impl Pooled {
    pub(super) fn new(buffer: DeviceBuffer, pool: Arc<Pool>) -> Self {
        Self { buffer: Some(buffer), pool }
    }

    pub(super) fn memory(&self) -> &DeviceBuffer {
        self.buffer.as_ref().expect("it is given back by the drop alone")
    }

    pub(super) fn memory_mut(&mut self) -> &mut DeviceBuffer {
        self.buffer.as_mut().expect("it is given back by the drop alone")
    }

    pub(super) fn address(&self) -> u64 {
        self.memory().address()
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.pool.put(buffer);
        }
    }
}

/// Rows of f32 on a card.
pub struct Buffer {
    /// Which card, by its place among those that are used.
    pub(super) card: usize,
    pub(super) memory: Pooled,
    /// Numbers.
    pub(super) len: usize,
}

impl Buffer {
    pub(super) fn address(&self) -> u64 {
        self.memory.address()
    }
}
