//! Memory in layers: VRAM for dense weights, keys and values and the hottest experts, RAM for the rest, planned before anything is loaded.

mod budget;
mod devices;
mod json;
mod needs;
mod plan;
mod ram;
mod table;

pub use budget::{Adapter, adapters, budget};
pub use devices::{Card, Choice, Refused, choose};
pub use needs::{Layer, Needs};
pub use plan::{Place, Plan, Setting, Wish, remedies};
pub use ram::available;
pub use table::table;

#[cfg(test)]
mod tests;
