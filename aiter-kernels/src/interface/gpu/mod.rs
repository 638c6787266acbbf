//! Launches: what a call is for a card, and the effects. The plans are values; nothing in them touches the machine.

mod attention;
mod cards;
mod plan;
mod position;
mod row_wise;

#[cfg(test)]
mod tests;

pub(super) use attention::attention;
pub(super) use cards::Gpus;
pub(super) use plan::{KernelCall, Plan};
pub(super) use position::{append_kv, rope};
pub(super) use row_wise::{gated_activation, norm, quantise_per_token};
