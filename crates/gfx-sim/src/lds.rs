//! The LDS of one workgroup, and who used which part of it since when.

use crate::fault::FaultKind;

/// What is known of one word.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    value: u32,
    /// Bytes that hold something, a bit each.
    defined: u8,
    /// Of the last store: its bytes, wave, and the barriers that the wave had signalled before it.
    stored: u8,
    storer: u8,
    store_phase: u32,
    /// Of the last loads: the waves, a bit each, and the barriers they had signalled.
    loaders: u32,
    load_phase: u32,
}

/// Who accesses, and when. An access of phase `signalled` by one wave lies before an access of another if the other has since waited for more
/// barriers than that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Who {
    pub(crate) wave: u32,
    pub(crate) signalled: u32,
    pub(crate) waited: u32,
}

/// A word of the LDS keeps its last storer and its last loaders only: a race with an earlier one can go unseen.
#[derive(Debug)]
pub(crate) struct Lds {
    cells: Vec<Cell>,
    size: u32,
}

impl Lds {
    pub(crate) fn new(size: u32) -> Self {
        Self { cells: vec![Cell::default(); size.div_ceil(4) as usize], size }
    }

    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    fn race(cell: usize, now: &'static str, before: &'static str, other: u32) -> FaultKind {
        FaultKind::LdsRace { address: 4 * cell as u32, now, before, other }
    }

    /// Holds a load of `bytes` (as bits) of a word against the stores of others.
    fn note_load(&mut self, index: usize, bytes: u8, who: Who) -> Result<(), FaultKind> {
        let cell = &mut self.cells[index];
        if cell.stored & bytes != 0 && u32::from(cell.storer) != who.wave && cell.store_phase >= who.waited {
            return Err(Self::race(index, "read", "written", cell.storer.into()));
        }
        if cell.load_phase == who.signalled {
            cell.loaders |= 1 << who.wave;
        } else if who.signalled > cell.load_phase || cell.loaders == 0 {
            (cell.loaders, cell.load_phase) = (1 << who.wave, who.signalled);
        }
        Ok(())
    }

    fn note_store(&mut self, index: usize, bytes: u8, who: Who) -> Result<(), FaultKind> {
        let cell = &mut self.cells[index];
        let others = cell.loaders & !(1 << who.wave);
        if others != 0 && cell.load_phase >= who.waited {
            return Err(Self::race(index, "written", "read", others.trailing_zeros()));
        }
        if cell.stored & bytes != 0 && u32::from(cell.storer) != who.wave && cell.store_phase >= who.waited {
            return Err(Self::race(index, "written", "written", cell.storer.into()));
        }
        let continues = u32::from(cell.storer) == who.wave && cell.store_phase == who.signalled;
        cell.stored = if continues { cell.stored | bytes } else { bytes };
        (cell.storer, cell.store_phase) = (who.wave as u8, who.signalled);
        Ok(())
    }

    /// A whole word: value and the bytes that hold something.
    pub(crate) fn load(&mut self, address: u32, who: Who) -> Result<(u32, u8), FaultKind> {
        let index = (address / 4) as usize;
        self.note_load(index, 15, who)?;
        Ok((self.cells[index].value, self.cells[index].defined))
    }

    /// 1 or 2 bytes within a word.
    pub(crate) fn load_part(&mut self, address: u32, bytes: u32, who: Who) -> Result<(u32, bool), FaultKind> {
        let (index, byte) = ((address / 4) as usize, address % 4);
        let flags = (((1u32 << bytes) - 1) << byte) as u8;
        self.note_load(index, flags, who)?;
        let cell = self.cells[index];
        Ok((cell.value >> (8 * byte) & ((1 << (8 * bytes)) - 1), cell.defined & flags == flags))
    }

    /// 1, 2 or 4 bytes within a word, and whether they hold something.
    pub(crate) fn load_part_or_word(
        &mut self,
        address: u32,
        bytes: u32,
        who: Who,
    ) -> Result<(u32, bool), FaultKind> {
        if bytes < 4 {
            return self.load_part(address, bytes, who);
        }
        self.load(address, who).map(|(value, defined)| (value, defined == 15))
    }

    /// [`Self::store`] of an address that was not held against the size yet.
    pub(crate) fn checked_store(
        &mut self,
        address: u32,
        value: u32,
        bytes: u32,
        defined: bool,
        who: Who,
    ) -> Result<(), FaultKind> {
        if u64::from(address) + u64::from(bytes) > self.size.into() {
            return Err(FaultKind::LdsOutOfBounds { address: address.into(), bytes, size: self.size });
        }
        self.store(address, value, bytes, defined, who)
    }

    /// 1, 2 or 4 bytes within a word.
    pub(crate) fn store(
        &mut self,
        address: u32,
        value: u32,
        bytes: u32,
        defined: bool,
        who: Who,
    ) -> Result<(), FaultKind> {
        let (index, byte) = ((address / 4) as usize, address % 4);
        let flags = (((1u32 << bytes) - 1) << byte) as u8;
        self.note_store(index, flags, who)?;
        let mask = if bytes == 4 { u32::MAX } else { ((1u32 << (8 * bytes)) - 1) << (8 * byte) };
        let cell = &mut self.cells[index];
        cell.value = cell.value & !mask | value << (8 * byte) & mask;
        cell.defined = if defined { cell.defined | flags } else { cell.defined & !flags };
        Ok(())
    }

    /// An atomic operation: those of several waves do not race with each other.
    pub(crate) fn update(
        &mut self,
        address: u32,
        who: Who,
        change: impl Fn(u32) -> u32,
    ) -> Result<(u32, u8), FaultKind> {
        const ATOMIC: u8 = 0x80;
        let index = (address / 4) as usize;
        let cell = &mut self.cells[index];
        if cell.stored & ATOMIC == 0 {
            self.note_store(index, 15, who)?;
        }
        let cell = &mut self.cells[index];
        let old = (cell.value, cell.defined);
        cell.value = change(old.0);
        (cell.stored, cell.storer, cell.store_phase) = (15 | ATOMIC, who.wave as u8, who.signalled);
        Ok(old)
    }

    /// An operation of `who` is still under way at a barrier: it counts as one of the time after it.
    pub(crate) fn extend(&mut self, address: u32, bytes: u32, writes: bool, who: Who) {
        for index in address / 4..(address + bytes).div_ceil(4) {
            let Some(cell) = self.cells.get_mut(index as usize) else { continue };
            if writes {
                if u32::from(cell.storer) == who.wave {
                    cell.store_phase = who.signalled;
                }
            } else {
                (cell.loaders, cell.load_phase) = (1 << who.wave, who.signalled);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(wave: u32, barriers: u32) -> Who {
        Who { wave, signalled: barriers, waited: barriers }
    }

    #[test]
    fn a_barrier_separates_and_nothing_else_does() {
        let mut lds = Lds::new(64);
        lds.store(8, 7, 4, true, who(0, 0)).expect("first");
        assert!(lds.load(8, who(1, 0)).is_err());
        assert_eq!(lds.load(8, who(0, 0)).expect("its own"), (7, 15));
        assert_eq!(lds.load(8, who(1, 1)).expect("after a barrier"), (7, 15));
        assert!(lds.store(8, 9, 4, true, who(0, 1)).is_err(), "wave 1 has read it since the barrier");
        lds.store(8, 9, 4, true, who(0, 2)).expect("after another barrier");
    }

    #[test]
    fn two_waves_share_a_word_but_not_a_byte() {
        let mut lds = Lds::new(64);
        lds.store(0, 1, 2, true, who(0, 0)).expect("low half");
        lds.store(2, 2, 2, true, who(1, 0)).expect("high half");
        assert!(lds.store(3, 2, 1, true, who(2, 0)).is_err());
        assert_eq!(lds.load(0, who(2, 1)).expect("after a barrier"), (0x2_0001, 15));
    }

    #[test]
    fn what_is_under_way_at_a_barrier_is_not_separated_by_it() {
        let mut lds = Lds::new(64);
        lds.store(0, 1, 4, true, who(0, 0)).expect("first");
        lds.extend(0, 4, true, who(0, 1));
        assert!(lds.load(0, who(1, 1)).is_err());
    }
}
