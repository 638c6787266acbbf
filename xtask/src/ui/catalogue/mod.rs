//! Every error that a reader can meet: its code, what it means, where it comes from, what mends it. docs/errors.md is written from here.
//!
//! A match over each error type gives the entries, so a variant without one does not compile. A code is never given to another error.

mod archive;
mod build;
mod dist;
mod fetch;
mod lock;
mod machine;
mod redirect;
#[cfg(test)]
mod samples;
mod store;
#[cfg(test)]
mod tests;
mod url;

pub(super) use machine::{BUG, DISK_FULL, HELD, UNKNOWN};

use super::exit::Exit;
use std::error::Error;

/// What there is to say about an error beside its own words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Explanation {
    /// `F04`: the letter of the stage and a number.
    pub(crate) code: &'static str,
    /// How the process ends.
    pub(crate) exit: Exit,
    /// What it says, without this run's names.
    pub(crate) meaning: &'static str,
    /// Where it usually comes from.
    pub(crate) cause: &'static str,
    /// What to do; the hint of the error, where the error itself has no better one.
    pub(crate) mend: &'static str,
}

/// The entries of one error type: `pattern => CODE Exit: meaning, cause, mend;`. What follows `else` hands the question on.
macro_rules! explanations {
    ($error:ty {
        $( $pattern:pat $(if $guard:expr)? => $code:ident $exit:ident: $meaning:literal, $cause:literal, $mend:literal; )*
    } $( else { $( $other:pat => $how:expr; )* } )?) => {
        pub(super) const ALL: &[$crate::ui::catalogue::Explanation] = &[ $( $crate::ui::catalogue::Explanation {
            code: stringify!($code),
            exit: $crate::ui::exit::Exit::$exit,
            meaning: $meaning,
            cause: $cause,
            mend: $mend,
        } ),* ];

        pub(super) fn explain(error: &$error) -> &'static $crate::ui::catalogue::Explanation {
            match error {
                $( $pattern $(if $guard)? => $crate::ui::catalogue::entry(ALL, stringify!($code)), )*
                $( $( $other => $how, )* )?
            }
        }
    };
}
use explanations;

fn entry(all: &'static [Explanation], code: &str) -> &'static Explanation {
    let found = all.iter().find(|entry| entry.code == code);
    found.unwrap_or(&UNKNOWN)
}

/// The stages, with the entries of each.
pub(crate) const CHAPTERS: [(&str, &[&[Explanation]]); 7] = [
    ("L: toolchains.lock", &[lock::ALL]),
    ("F: downloads", &[fetch::ALL, url::ALL, redirect::ALL]),
    ("A: archives", &[archive::ALL]),
    ("S: the store", &[store::ALL]),
    ("B: building", &[build::ALL]),
    ("D: releases", &[dist::ALL]),
    ("M: the machine and the command line", machine::ALL),
];

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Explanation> {
    CHAPTERS.iter().flat_map(|(_, groups)| groups.iter().copied().flatten())
}

/// What one cause of an error is known as, if it is known.
pub(super) fn of_cause(cause: &(dyn Error + 'static)) -> Option<&'static Explanation> {
    use crate::{build as building, dist as releases, fetch as downloads, lock as locks, store as stores};
    if let Some(error) = cause.downcast_ref::<locks::Error>() {
        return Some(lock::explain(error));
    }
    if let Some(error) = cause.downcast_ref::<downloads::Error>() {
        return Some(fetch::explain(error));
    }
    // A box of the same: thiserror's `source` of a Box hands out the box.
    if let Some(error) = cause.downcast_ref::<Box<downloads::Error>>() {
        return Some(fetch::explain(error));
    }
    if let Some(error) = cause.downcast_ref::<stores::Error>() {
        return Some(store::explain(error));
    }
    if let Some(error) = cause.downcast_ref::<building::Error>() {
        return Some(build::explain(error));
    }
    if let Some(error) = cause.downcast_ref::<releases::Error>() {
        return Some(dist::explain(error));
    }
    if let Some(error) = cause.downcast_ref::<downloads::Refusal>() {
        return Some(archive::explain(error));
    }
    if let Some(error) = cause.downcast_ref::<downloads::UrlError>() {
        return Some(url::explain(error));
    }
    machine::of_cause(cause)
}
