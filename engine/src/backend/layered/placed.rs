//! A thing on a card or in RAM.

use crate::backend::hip::Error;
use std::convert::Infallible;

/// Where it is, and it.
pub enum Placed<C, R> {
    /// On a card.
    Card(C),
    /// In RAM.
    Ram(R),
}

/// Rows are carried to where a part is before anything of it is computed.
const CARRIED: &str = "rows and weights of a part lie in one place";

impl<C, R> Placed<C, R> {
    /// What is on a card because the part is.
    ///
    /// # Panics
    /// If it is in RAM.
    pub fn card(&self) -> &C {
        match self {
            Self::Card(thing) => thing,
            Self::Ram(_) => panic!("{CARRIED}"),
        }
    }

    /// What is in RAM because the part is.
    ///
    /// # Panics
    /// If it is on a card.
    pub fn ram(&self) -> &R {
        match self {
            Self::Card(_) => panic!("{CARRIED}"),
            Self::Ram(thing) => thing,
        }
    }
}

/// What cannot fail, as what can.
pub(super) fn sure<T>(result: Result<T, Infallible>) -> Result<T, Error> {
    let Ok(value) = result;
    Ok(value)
}
