//! Memory that steps work in: taken from a card once, used again and again, and given back when it is more than steps need.

use hip::DeviceBuffer;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memory of one card that nobody uses just now.
///
/// All work of a card is queued on one stream, so memory that was given back may still be in use by work that was queued before, but not by work
/// that is queued after.
#[derive(Default)]
pub(super) struct Pool(Mutex<Shelf<DeviceBuffer>>);

/// What a pool keeps of memory. Plain values, so that the rule is tested without a card.
struct Shelf<T> {
    /// Bytes and memory, the longest unused first.
    free: Vec<(usize, T)>,
    /// Bytes that are in use.
    used: usize,
    /// Bytes that were in use at once, at most.
    most: usize,
    /// How often memory was given back to the card while something that was recorded may have known it.
    emptied: u64,
}

/// Bytes that a buffer is larger at most than what is asked for, times.
const WASTE: usize = 2;
/// Sizes are multiples of this at least.
const GRAIN: usize = 4096;
/// Bytes that are kept unused between steps at most, times what the largest step has in use at once.
const SPARE: usize = 2;

/// The size that is taken for `bytes`: eighths of a power of two, so that those of neighbouring steps are alike.
pub(super) fn size_for(bytes: usize) -> usize {
    bytes.next_multiple_of((bytes.next_power_of_two() / 8).max(GRAIN)).max(GRAIN)
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { free: Vec::new(), used: 0, most: 0, emptied: 0 }
    }
}

impl<T> Shelf<T> {
    fn take(&mut self, size: usize) -> Option<T> {
        let sizes = self.free.iter().enumerate().map(|(place, (len, _))| (*len, place));
        let best = sizes.filter(|(len, _)| (size..=size * WASTE).contains(len)).min()?;
        Some(self.free.remove(best.1).1)
    }

    fn is_used(&mut self, size: usize) {
        self.used += size;
        self.most = self.most.max(self.used);
    }

    fn put(&mut self, size: usize, memory: T) {
        self.used -= size;
        self.free.push((size, memory));
    }

    /// Gives back what steps did without for the longest time, down to what may be spare.
    fn trim(&mut self) {
        let mut spare: usize = self.free.iter().map(|(size, _)| size).sum();
        let unused = self.free.iter().take_while(|(size, _)| {
            let is_too_much = spare > SPARE * self.most;
            spare -= if is_too_much { *size } else { 0 };
            is_too_much
        });
        let unused = unused.count();
        self.free.drain(..unused);
    }
}

impl Pool {
    fn shelf(&self) -> MutexGuard<'_, Shelf<DeviceBuffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory for `bytes` that was used before, the smallest that will do.
    pub(super) fn take(&self, bytes: usize) -> Option<DeviceBuffer> {
        self.shelf().take(size_for(bytes))
    }

    /// Gives back to the card what is more than steps need. Nothing that is recorded may know it.
    pub(super) fn trim(&self) {
        self.shelf().trim();
    }

    /// Gives all that is free back to the card; whether there was any. The card does nothing just now.
    pub(super) fn empty(&self) -> bool {
        let mut shelf = self.shelf();
        let had_any = !shelf.free.is_empty();
        shelf.free.clear();
        shelf.emptied += u64::from(had_any);
        had_any
    }

    /// How often it was emptied: what was recorded before does not find its memory.
    pub(super) fn emptied(&self) -> u64 {
        self.shelf().emptied
    }
}

/// Memory of a pool, given back when it is dropped.
pub(super) struct Pooled {
    buffer: Option<DeviceBuffer>,
    pool: Arc<Pool>,
}

impl Pooled {
    pub(super) fn new(buffer: DeviceBuffer, pool: Arc<Pool>) -> Self {
        pool.shelf().is_used(buffer.len());
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
            self.pool.shelf().put(buffer.len(), buffer);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_eighths_of_a_power_of_two() {
        let table = [
            (0, 4096),
            (1, 4096),
            (4097, 8192),
            (32_769, 40_960),
            (1 << 20, 1 << 20),
            ((1 << 20) + 1, (1 << 20) + (1 << 18)),
            (3 << 20, 3 << 20),
        ];
        for (bytes, size) in table {
            assert_eq!(size_for(bytes), size, "{bytes}");
        }
    }

    /// One step: rows between layers, a wide part that is computed from them, and their sum.
    fn step(shelf: &mut Shelf<usize>, rows: usize) -> usize {
        let mut allocated = 0;
        let mut take = |shelf: &mut Shelf<usize>, numbers: usize| {
            let size = size_for(rows * numbers * 4);
            let len = shelf.take(size).unwrap_or_else(|| {
                allocated += size;
                size
            });
            shelf.is_used(len);
            len
        };
        for _ in 0..4 {
            let x = take(shelf, 4096);
            let wide = take(shelf, 2 * 14_336);
            let narrow = take(shelf, 14_336);
            shelf.put(wide, wide);
            let out = take(shelf, 4096);
            [narrow, out, x].into_iter().for_each(|len| shelf.put(len, len));
        }
        allocated
    }

    #[test]
    fn memory_is_bounded_by_the_largest_step() {
        let largest = step(&mut Shelf::default(), 512);
        let mut shelf = Shelf::default();
        let mut most = 0;
        for rows in (5..=512).chain((1..512).rev()).chain([512, 1].repeat(20)) {
            shelf.trim();
            step(&mut shelf, rows);
            let all: usize = shelf.free.iter().map(|(size, _)| size).sum();
            assert_eq!(shelf.used, 0);
            most = most.max(all);
        }
        assert!(most <= 3 * largest, "{most} bytes for steps of {largest} at most");
        // Steps that are alike get what they gave back.
        shelf.trim();
        assert_eq!([step(&mut shelf, 1), step(&mut shelf, 1), step(&mut shelf, 512)], [0; 3]);
    }
}
