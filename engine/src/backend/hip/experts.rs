//! Mixture of experts: routed on the card, so that no step waits for the host.

use super::Hip;
use super::buffer::{Buffer, Pooled};
use super::error::Error;
use super::matrix::{Matrix, Output};
use crate::backend::Part;
use crate::element::Element;
use crate::gguf::{Gguf, Tensor};
use crate::kernels::{Mix, Route};
use crate::model::Experts;

/// The experts of each token, on the card that chose them.
pub(in crate::backend) struct Routed {
    card: usize,
    /// i32 `[tokens, used]`: which matrix; below 0: none.
    chosen: Pooled,
    /// f32 `[tokens, used]`.
    weights: Pooled,
    tokens: usize,
    used: usize,
}

impl Hip {
    /// The best experts of each token, chosen on a card.
    pub(super) fn route(&self, card: usize, scores: &Buffer, experts: Experts) -> Result<Routed, Error> {
        let Experts { count, used, .. } = experts;
        let scores = self.on(card, scores)?;
        let tokens = scores.len / count;
        let on = &self.cards[card];
        let (chosen, weights) = (on.take(tokens * used * 4)?, on.take(tokens * used * 4)?);
        let (experts, by) = (chosen.address(), weights.address());
        on.launch(&Route { experts, weights: by, scores: scores.address(), count, used, tokens }.call())?;
        Ok(Routed { card, chosen, weights, tokens, used })
    }

    /// As [`Self::route`], on the card where the scores lie.
    pub(in crate::backend) fn route_there(&self, scores: &Buffer, experts: Experts) -> Result<Routed, Error> {
        self.route(scores.card, scores, experts)
    }

    /// The matrices of some experts of a part.
    pub(in crate::backend) fn some_experts(
        &self,
        part: Part,
        gguf: &Gguf,
        tensor: &Tensor,
        experts: &[usize],
    ) -> Result<Matrix, Error> {
        let card = self.card_of(part);
        Matrix::of_experts(card, &self.cards[card], gguf, tensor, experts)
    }
}

impl Routed {
    /// Each token through the matrices that are chosen for it: gate, up and down.
    pub(in crate::backend) fn mix(
        &self,
        hip: &Hip,
        [gate, up, down]: [&Matrix; 3],
        x: &Buffer,
    ) -> Result<Buffer, Error> {
        let Self { tokens, used, .. } = *self;
        let (card, jobs, experts) = (&hip.cards[self.card], tokens * used, self.chosen.address());
        let x = hip.on(self.card, x)?;
        let both = hip.buffer(self.card, jobs * 2 * gate.rows)?;
        let shared = [x.address(), tokens as u64, used as u64];
        gate.multiply_experts(card, experts, shared, Output::half(&both, 0, gate.rows))?;
        up.multiply_experts(card, experts, shared, Output::half(&both, 1, gate.rows))?;
        let inner = hip.activated(&both, jobs, gate.rows)?;

        let y = hip.buffer(self.card, jobs * down.rows)?;
        let inner = [inner.address(), jobs as u64, 1];
        down.multiply_experts(card, experts, inner, Output::of(&y, down.rows))?;
        let out = hip.buffer(self.card, tokens * down.rows)?;
        let weights = self.weights.address();
        let call = Mix { out: out.address(), y: y.address(), weights, columns: down.rows, used, tokens };
        card.launch(&call.call())?;
        Ok(out)
    }

    /// Which experts and their weights, `[tokens, used]`, when the work before is done.
    pub(in crate::backend) fn read(&self, hip: &Hip) -> Result<(Vec<i32>, Vec<f32>), Error> {
        let (card, bytes) = (&hip.cards[self.card], self.tokens * self.used * 4);
        card.wait()?;
        let read = |memory: &Pooled| card.call(memory.memory().read_first(bytes));
        let chosen = read(&self.chosen)?;
        let chosen = chosen.as_chunks::<4>().0.iter().map(|word| i32::from_le_bytes(*word)).collect();
        Ok((chosen, Element::F32.decode(&read(&self.weights)?)))
    }

    /// Replaces the chosen ones, when the work before is done.
    pub(in crate::backend) fn write(&mut self, hip: &Hip, chosen: &[i32]) -> Result<(), Error> {
        let card = &hip.cards[self.card];
        card.wait()?;
        let bytes: Vec<u8> = chosen.iter().flat_map(|expert| expert.to_le_bytes()).collect();
        card.call(self.chosen.memory_mut().write(&bytes))
    }
}
