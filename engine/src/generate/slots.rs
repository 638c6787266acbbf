//! Slots of the cache that nothing runs in, and what they still hold: a prompt that starts with it does not compute that part again.

/// A slot with the tokens whose keys and values are in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Idle {
    slot: usize,
    held: Vec<u32>,
}

/// All idle slots, the one that has been idle longest first.
#[derive(Debug)]
pub(super) struct Slots(Vec<Idle>);

impl Slots {
    /// So many empty ones.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).map(|slot| Idle { slot, held: Vec::new() }).collect())
    }

    /// Takes back a slot whose cache holds `held`.
    pub(super) fn give_back(&mut self, slot: usize, held: Vec<u32>) {
        self.0.push(Idle { slot, held });
    }

    /// The slot that is best for a prompt, and how many of its first tokens are there already: one less than all at most, since the last
    /// one's logits are wanted. `None`: all are busy.
    ///
    /// What a slot holds beyond the common part is lost, and may be another conversation: it counts against the slot. Of two alike the one that has been idle
    /// longest is taken.
    pub(super) fn take(&mut self, prompt: &[u32]) -> Option<(usize, usize)> {
        let worth = |idle: &Idle| {
            let common = common(&idle.held, prompt) as i64;
            (2 * common - idle.held.len() as i64, common)
        };
        let best = (0..self.0.len()).rev().max_by_key(|at| worth(&self.0[*at]))?;
        let Idle { slot, held } = self.0.remove(best);
        Some((slot, common(&held, prompt).min(prompt.len().saturating_sub(1))))
    }
}

/// How many tokens two texts have in common from their start.
fn common(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_gets_the_slot_that_saves_most() {
        type Held<'a> = &'a [&'a [u32]];
        let table: [(Held<'_>, &[u32], (usize, usize)); 7] = [
            (&[&[], &[]], &[1, 2], (0, 0)),
            // The conversation goes on.
            (&[&[], &[1, 2, 3]], &[1, 2, 3, 4, 5], (1, 3)),
            // The same again: the last token is computed.
            (&[&[1, 2, 3], &[]], &[1, 2, 3], (0, 2)),
            // A start in common is not worth another conversation while there is room.
            (&[&[1, 2, 3, 4, 5], &[]], &[1, 9], (1, 0)),
            // Without room the oldest goes, or what loses least.
            (&[&[7, 8], &[5, 6]], &[1], (0, 0)),
            (&[&[7, 8, 9], &[5, 6]], &[1], (1, 0)),
            (&[&[1, 2, 3, 4], &[1, 2, 9]], &[1, 2, 9, 9], (1, 3)),
        ];
        for (held, prompt, expected) in table {
            let mut slots = Slots(Vec::new());
            held.iter().enumerate().for_each(|(slot, held)| slots.give_back(slot, held.to_vec()));
            assert_eq!(slots.take(prompt), Some(expected), "{held:?} {prompt:?}");
        }
        assert_eq!(Slots::new(0).take(&[1]), None);
    }
}
