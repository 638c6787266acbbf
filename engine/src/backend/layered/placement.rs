//! Which parts are on cards.

use crate::backend::Part;

/// What the cards of a [`super::Layered`] hold; the rest is in RAM.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Placement {
    /// The table of tokens.
    pub embedding: bool,
    /// So many layers, from the first on.
    pub layers: usize,
    /// The output.
    pub output: bool,
    /// Of each layer the experts, by number. A layer that is missing has none on a card.
    pub experts: Vec<Vec<usize>>,
}

impl Placement {
    pub(super) fn is_on_cards(&self, part: Part) -> bool {
        match part {
            Part::Embedding => self.embedding,
            Part::Layer(layer) | Part::Experts(layer) => layer < self.layers,
            Part::Output => self.output,
        }
    }

    /// The experts of a layer that are on its card.
    pub(super) fn experts(&self, layer: usize) -> &[usize] {
        self.experts.get(layer).map_or(&[], Vec::as_slice)
    }
}

/// The place of each of `count` experts among `there`; below 0: it is not there.
pub(super) fn places(there: &[usize], count: usize) -> Vec<i32> {
    let place = |expert| there.iter().position(|other| *other == expert).map_or(-1, |place| place as i32);
    (0..count).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experts_have_their_place_on_the_card_or_none() {
        assert_eq!(places(&[3, 1], 5), [-1, 1, -1, 0, -1]);
        let placement = Placement { layers: 1, experts: vec![vec![2]], ..Placement::default() };
        let parts = [Part::Embedding, Part::Layer(0), Part::Experts(0), Part::Layer(1), Part::Output];
        assert_eq!(parts.map(|part| placement.is_on_cards(part)), [false, true, true, false, false]);
        assert_eq!((placement.experts(0), placement.experts(1)), (&[2][..], &[][..]));
    }
}
