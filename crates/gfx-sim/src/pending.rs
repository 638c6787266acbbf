//! Results under way: what was issued and not yet waited for.

use crate::fault::Counter;
use std::collections::VecDeque;

/// Registers, 32 bits each, that an operation will write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Registers {
    pub(crate) is_vector: bool,
    pub(crate) first: u8,
    pub(crate) count: u8,
}

/// The LDS that an operation under way touches, so that it can be held against what others do after the next barrier.
#[derive(Debug, Clone)]
pub(crate) struct Touched {
    pub(crate) addresses: [u32; 32],
    pub(crate) exec: u32,
    pub(crate) bytes: u32,
    pub(crate) writes: bool,
}

#[derive(Debug, Clone)]
struct Entry {
    registers: Option<Registers>,
    lds: Vec<Touched>,
}

/// One counter. Vector memory loads, and LDS operations, come back in order; scalar loads do not.
#[derive(Debug, Default)]
struct Queue {
    in_order: VecDeque<Entry>,
    unordered: Vec<Entry>,
}

/// All that is under way in a wave.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    load: Queue,
    store: u32,
    lds: Queue,
    scalar: Queue,
    vectors: [u64; 4],
    scalars: [u64; 2],
}

impl Pending {
    fn queue(&mut self, counter: Counter) -> &mut Queue {
        match counter {
            Counter::Scalar => &mut self.scalar,
            // gfx11 counts LDS and scalar loads together: `lds` has both, and `scalar` stays empty.
            Counter::Lds | Counter::LdsAndScalar => &mut self.lds,
            Counter::Load | Counter::Store => &mut self.load,
        }
    }

    /// An operation that is counted by `counter`.
    pub(crate) fn issue(
        &mut self,
        counter: Counter,
        ordered: bool,
        registers: Option<Registers>,
        lds: Option<Touched>,
    ) {
        if counter == Counter::Store {
            self.store += 1;
            return;
        }
        let entry = Entry { registers, lds: lds.into_iter().collect() };
        let queue = self.queue(counter);
        if ordered {
            queue.in_order.push_back(entry);
        } else {
            queue.unordered.push(entry);
        }
        if let Some(registers) = registers {
            self.mark(registers);
        }
    }

    /// One LDS instruction with two addresses.
    pub(crate) fn issue_pair(
        &mut self,
        counter: Counter,
        registers: Option<Registers>,
        a: Touched,
        b: Touched,
    ) {
        self.queue(counter).in_order.push_back(Entry { registers, lds: vec![a, b] });
        registers.into_iter().for_each(|registers| self.mark(registers));
    }

    /// Waits until at most `left` operations of a counter are under way.
    pub(crate) fn wait(&mut self, counter: Counter, left: usize) {
        if counter == Counter::Store {
            self.store = self.store.min(left as u32);
            return;
        }
        let queue = self.queue(counter);
        // The ones without an order may be any of those that are still under way.
        while queue.in_order.len() > left {
            queue.in_order.pop_front();
        }
        if left == 0 {
            queue.unordered.clear();
        }
        self.rebuild();
    }

    fn mark(&mut self, Registers { is_vector, first, count }: Registers) {
        for register in usize::from(first)..usize::from(first) + usize::from(count) {
            let words: &mut [u64] = if is_vector { &mut self.vectors } else { &mut self.scalars };
            if let Some(word) = words.get_mut(register / 64) {
                *word |= 1 << (register % 64);
            }
        }
    }

    fn rebuild(&mut self) {
        (self.vectors, self.scalars) = ([0; 4], [0; 2]);
        let queues = [&self.load, &self.lds, &self.scalar];
        let entries = queues.into_iter().flat_map(|queue| queue.in_order.iter().chain(&queue.unordered));
        let registers: Vec<Registers> = entries.filter_map(|entry| entry.registers).collect();
        registers.into_iter().for_each(|registers| self.mark(registers));
    }

    pub(crate) fn is_vector_pending(&self, register: u8) -> bool {
        self.vectors[usize::from(register) / 64] >> (register % 64) & 1 != 0
    }

    pub(crate) fn is_scalar_pending(&self, register: u8) -> bool {
        self.scalars[usize::from(register) / 64] >> (register % 64) & 1 != 0
    }

    /// The counter that a pending register waits for.
    pub(crate) fn counter_of(&self, is_vector: bool, register: u8, is_gfx12: bool) -> Counter {
        let holds = |queue: &Queue| {
            let mut entries =
                queue.in_order.iter().chain(&queue.unordered).filter_map(|entry| entry.registers);
            entries.any(|r| {
                r.is_vector == is_vector
                    && (r.first..=r.first.saturating_add(r.count - 1)).contains(&register)
            })
        };
        if holds(&self.load) {
            Counter::Load
        } else if holds(&self.scalar) {
            Counter::Scalar
        } else if is_gfx12 {
            Counter::Lds
        } else {
            Counter::LdsAndScalar
        }
    }

    /// Whether all that is pending on these registers comes back in order behind `counter`, so that a next one may write them too.
    pub(crate) fn is_behind(&self, registers: Registers, counter: Counter) -> bool {
        let overlaps = |entry: &&Entry| {
            entry.registers.is_some_and(|r| {
                let end = |r: Registers| u16::from(r.first) + u16::from(r.count);
                r.is_vector == registers.is_vector
                    && u16::from(r.first) < end(registers)
                    && u16::from(registers.first) < end(r)
            })
        };
        let own = match counter {
            Counter::Load | Counter::Store => &self.load,
            Counter::Lds | Counter::LdsAndScalar => &self.lds,
            Counter::Scalar => &self.scalar,
        };
        let others =
            [&self.load, &self.lds, &self.scalar].into_iter().filter(|queue| !std::ptr::eq(*queue, own));
        let mut wrong = others
            .flat_map(|queue| &queue.in_order)
            .chain([&self.load, &self.lds, &self.scalar].into_iter().flat_map(|queue| &queue.unordered));
        !wrong.any(|entry| overlaps(&entry))
    }

    /// The LDS operations under way.
    pub(crate) fn lds(&self) -> impl Iterator<Item = &Touched> {
        self.lds.in_order.iter().chain(&self.lds.unordered).flat_map(|entry| &entry.lds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(first: u8, count: u8) -> Option<Registers> {
        Some(Registers { is_vector: true, first, count })
    }

    #[test]
    fn loads_come_back_in_order() {
        let mut pending = Pending::default();
        pending.issue(Counter::Load, true, vector(4, 4), None);
        pending.issue(Counter::Load, true, vector(8, 1), None);
        pending.wait(Counter::Load, 1);
        assert!(!pending.is_vector_pending(4) && pending.is_vector_pending(8));
        assert_eq!(pending.counter_of(true, 8, true), Counter::Load);
        pending.wait(Counter::Lds, 0);
        assert!(pending.is_vector_pending(8));
        pending.wait(Counter::Load, 0);
        assert!(!pending.is_vector_pending(8));
    }

    #[test]
    fn scalar_loads_come_back_in_any_order() {
        let mut pending = Pending::default();
        let scalars = |first| Some(Registers { is_vector: false, first, count: 2 });
        pending.issue(Counter::LdsAndScalar, false, scalars(0), None);
        pending.issue(Counter::LdsAndScalar, true, vector(1, 1), None);
        pending.issue(Counter::LdsAndScalar, false, scalars(4), None);
        pending.wait(Counter::LdsAndScalar, 1);
        // The one that is left may be any of the three.
        assert!(pending.is_scalar_pending(0) && pending.is_scalar_pending(5) && pending.is_vector_pending(1));
        pending.wait(Counter::LdsAndScalar, 0);
        assert!(!pending.is_scalar_pending(0) && !pending.is_vector_pending(1));
    }

    #[test]
    fn a_register_of_two_loads_waits_for_both() {
        let mut pending = Pending::default();
        pending.issue(Counter::Load, true, vector(4, 1), None);
        pending.issue(Counter::Load, true, vector(4, 1), None);
        assert!(pending.is_behind(vector(4, 1).expect("some"), Counter::Load));
        assert!(!pending.is_behind(vector(4, 1).expect("some"), Counter::Lds));
        pending.wait(Counter::Load, 1);
        assert!(pending.is_vector_pending(4));
    }
}
