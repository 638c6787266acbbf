//! Mixture of experts: routed on the card, so that no step waits for the host.

use super::Hip;
use super::buffer::Buffer;
use super::error::Error;
use super::matrix::{Matrix, Output};
use crate::kernels::{Mix, Route};
use crate::model::Experts;

/// Each token through its best experts: gate, up and down.
pub(super) fn mix(
    hip: &Hip,
    scores: &Buffer,
    experts: Experts,
    [gate, up, down]: [&Matrix; 3],
    x: &Buffer,
) -> Result<Buffer, Error> {
    let Experts { count, used, .. } = experts;
    let (scores, x) = (hip.on(gate.card, scores)?, hip.on(gate.card, x)?);
    let card = &hip.cards[gate.card];
    let tokens = x.len / gate.columns;
    let jobs = tokens * used;

    let (chosen, weights) = (card.take(jobs * 4)?, card.take(jobs * 4)?);
    let (experts, by) = (chosen.address(), weights.address());
    card.launch(&Route { experts, weights: by, scores: scores.address(), count, used, tokens }.call())?;

    let both = hip.buffer(gate.card, jobs * 2 * gate.rows)?;
    let shared = [x.address(), tokens as u64, used as u64];
    gate.multiply_experts(card, experts, shared, Output::half(&both, 0, gate.rows))?;
    up.multiply_experts(card, experts, shared, Output::half(&both, 1, gate.rows))?;
    let inner = hip.activated(&both, jobs, gate.rows)?;

    let y = hip.buffer(gate.card, jobs * down.rows)?;
    let inner = [inner.address(), jobs as u64, 1];
    down.multiply_experts(card, experts, inner, Output::of(&y, down.rows))?;
    let out = hip.buffer(gate.card, tokens * down.rows)?;
    let call = Mix { out: out.address(), y: y.address(), weights: by, columns: down.rows, used, tokens };
    card.launch(&call.call())?;
    Ok(out)
}
