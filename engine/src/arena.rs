//! An arena: one block of memory that is handed out front to back and given back as a whole.

/// The offsets in such a block. It never touches the memory itself, so host and device use the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arena {
    capacity: u64,
    used: u64,
}

impl Arena {
    /// An empty arena of `capacity` bytes.
    pub fn new(capacity: u64) -> Self {
        Self { capacity, used: 0 }
    }

    /// The offset of `size` bytes at a multiple of `align`, or `None` when they do not fit; then nothing is taken.
    ///
    /// # Panics
    /// If `align` is 0.
    pub fn allocate(&mut self, size: u64, align: u64) -> Option<u64> {
        let start = self.used.checked_next_multiple_of(align)?;
        let end = start.checked_add(size)?;
        if end > self.capacity {
            return None;
        }
        self.used = end;
        Some(start)
    }

    /// In bytes, the gaps of alignment included.
    pub fn used(&self) -> u64 {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_aligned_and_do_not_overlap() {
        let mut arena = Arena::new(1000);
        assert_eq!(arena.allocate(10, 256), Some(0));
        assert_eq!(arena.allocate(10, 256), Some(256));
        assert_eq!(arena.used(), 266);
    }

    #[test]
    fn what_does_not_fit_takes_nothing() {
        let mut arena = Arena::new(1000);
        for (size, align) in [(1001, 1), (u64::MAX, 1), (u64::MAX, 256)] {
            assert_eq!(arena.allocate(size, align), None);
        }
        assert_eq!(arena.allocate(1000, 1), Some(0));
        assert_eq!(arena.allocate(1, 1), None);
        assert_eq!(arena.allocate(0, 1), Some(1000));
    }
}
