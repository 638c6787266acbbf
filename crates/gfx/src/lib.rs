//! AMD Radeon GPUs as this project sees them: targets, their families, what their hardware has, the cards that carry them, and how people
//! write them down.
//!
//! A leaf crate: it knows facts and parses text; it never asks the machine anything. Where each fact comes from is said beside it.

mod cards;
mod error;
mod family;
mod matrix;
mod nearest;
mod selection;
mod target;
mod tier;

pub use cards::{CARDS, Card, PciId, is_integrated, target_of_card_name, target_of_pci_id};
pub use error::{ParseError, SelectionError};
pub use family::{DistFamily, Family};
pub use matrix::{DataType, Wmma};
pub use nearest::nearest;
pub use selection::Selection;
pub use target::Target;
pub use tier::Tier;
