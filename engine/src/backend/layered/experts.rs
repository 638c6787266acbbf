//! Experts of which some are on a card: each token's rows go through those there and through the others on the CPU at the same time.

use super::Layered;
use super::placed::sure;
use super::placement::places;
use crate::backend::cpu::{self, Chosen};
use crate::backend::hip::{self, Error};
use crate::backend::{Backend, Part};
use crate::gguf::{Gguf, Tensor};
use crate::model::Experts;
use std::sync::Arc;

/// A matrix of a part that a card computes.
pub enum OnCard {
    /// All of it is there.
    Whole(hip::Matrix),
    /// The matrices of a layer's experts.
    Experts(Divided),
}

/// Experts: all in RAM, and some on the card.
pub struct Divided {
    ram: cpu::Matrix,
    /// `None`: the card has none.
    card: Option<hip::Matrix>,
    /// The place of each expert among those of the card; below 0: it is not there.
    places: Vec<i32>,
}

impl OnCard {
    /// A matrix that is no expert's.
    ///
    /// # Panics
    /// If it is one of experts.
    pub fn whole(&self) -> &hip::Matrix {
        match self {
            Self::Whole(matrix) => matrix,
            Self::Experts(_) => panic!("experts are computed by `mix_experts` alone"),
        }
    }
}

/// The card's part of what was chosen, and the CPU's. A number that is no expert's is nobody's.
fn divide(chosen: &[i32], weights: &[f32], used: usize, places: &[i32]) -> (Vec<i32>, Vec<Chosen>) {
    let find = |number: i32| {
        let expert = usize::try_from(number).ok()?;
        Some((expert, *places.get(expert)?))
    };
    let here = chosen.iter().map(|expert| find(*expert).map_or(-1, |(_, place)| place)).collect();
    let all = chosen.iter().zip(weights).enumerate();
    let there = all.filter_map(|(at, (expert, weight))| {
        let (expert, place) = find(*expert)?;
        (place < 0).then_some(Chosen { token: at / used, expert, weight: *weight })
    });
    (here, there.collect())
}

impl Layered {
    /// The matrices of a layer's experts: those that are all on the card are one thing to the card, unless somebody counts.
    pub(super) fn experts(&self, layer: usize, gguf: &Arc<Gguf>, tensor: &Tensor) -> Result<OnCard, Error> {
        let (part, there) = (Part::Experts(layer), self.placement.experts(layer));
        let count = tensor.sizes.get(2).map_or(1, |count| *count as usize);
        if there.len() == count && !self.cpu.is_counting() {
            return self.cards.matrix(part, gguf, tensor).map(OnCard::Whole);
        }
        let on_card = || self.cards.some_experts(part, gguf, tensor, there);
        Ok(OnCard::Experts(Divided {
            ram: sure(self.cpu.matrix(part, gguf, tensor))?,
            card: if there.is_empty() { None } else { Some(on_card()?) },
            places: places(there, count),
        }))
    }

    /// Each token through its best experts of a layer whose dense part is on a card.
    pub(super) fn mix(
        &self,
        layer: usize,
        scores: &hip::Buffer,
        experts: Experts,
        weights: [&OnCard; 3],
        x: &hip::Buffer,
    ) -> Result<hip::Buffer, Error> {
        match weights {
            [OnCard::Experts(gate), OnCard::Experts(up), OnCard::Experts(down)] => {
                self.mix_divided(layer, scores, experts, [gate, up, down], x)
            }
            _ => self.cards.mix_experts(layer, scores, experts, weights.map(OnCard::whole), x),
        }
    }

    fn mix_divided(
        &self,
        layer: usize,
        scores: &hip::Buffer,
        experts: Experts,
        weights: [&Divided; 3],
        x: &hip::Buffer,
    ) -> Result<hip::Buffer, Error> {
        let mut routed = self.cards.route_there(scores, experts)?;
        let (chosen, by) = routed.read(&self.cards)?;
        self.cpu.count(layer, chosen.iter().filter_map(|expert| usize::try_from(*expert).ok()));
        let (here, there) = divide(&chosen, &by, experts.used, &weights[0].places);
        // Read before the card gets its part, so that the CPU does not wait for that.
        let rows = if there.is_empty() { Vec::new() } else { self.cards.read(x)? };
        let on_card = match weights.map(|weights| weights.card.as_ref()) {
            [Some(gate), Some(up), Some(down)] if here.iter().any(|place| *place >= 0) => {
                routed.write(&self.cards, &here)?;
                Some(routed.mix(&self.cards, [gate, up, down], x)?)
            }
            _ => None,
        };
        let on_card = match on_card {
            Some(out) if there.is_empty() => return Ok(out),
            other => other,
        };
        let sums = self.cpu.mix_chosen(&there, experts, weights.map(|weights| &weights.ram), &rows);
        let sums = self.cards.write(Part::Experts(layer), &sums)?;
        match on_card {
            None => Ok(sums),
            Some(mut out) => self.cards.add(&mut out, &sums).map(|()| out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_the_cards_or_the_cpus() {
        // Two tokens with two experts each; experts 3 and 1 are on the card.
        let (here, there) = divide(&[1, 0, 2, 3], &[0.6, 0.4, 0.7, 0.3], 2, &[-1, 1, -1, 0]);
        assert_eq!(here, [1, -1, -1, 0]);
        let chosen = |token, expert, weight| Chosen { token, expert, weight };
        assert_eq!(there, [chosen(0, 0, 0.4), chosen(1, 2, 0.7)]);
        // None, and one that there is not.
        assert_eq!(divide(&[-1, 1024], &[0.6, 0.4], 2, &[-1, 1]), (vec![-1, -1], Vec::new()));
    }
}
