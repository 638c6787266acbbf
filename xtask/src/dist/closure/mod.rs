//! The import closure: which shared libraries a set of programs needs, read from their real headers, and where each was found.
//!
//! [`walk`] is a pure function over [`Listing`]s, so that Windows' rules are tested on Linux. It searches the places that it is given and nothing
//! else: never the PATH, never the machine.

mod binary;
#[cfg(test)]
pub(crate) mod fake;
mod listing;
mod problem;
mod system;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use binary::{Binary, How, Link, Machine};
pub(crate) use listing::{Listing, Tree};
pub(crate) use problem::{Problem, shown as shown_problems};
pub(crate) use system::{System, is_debug_crt};
pub(crate) use walk::{Closure, Location, Place, Root, file_name, walk};
