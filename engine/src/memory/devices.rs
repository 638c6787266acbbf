//! Which cards are used. A pure rule over what the HIP runtime says.

use gfx::{Family, Target};
use std::str::FromStr;

/// A card as the HIP runtime describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// HIP's number.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Its target, if it is one of this project's.
    pub target: Option<Target>,
    /// Why this release does not run on it, if so.
    pub cannot_run: Option<String>,
    /// It is part of a processor and shares its memory.
    pub is_integrated: bool,
    /// Bytes that the runtime calls free.
    pub free: u64,
    /// On Windows: bytes that this process may use. The free figure there knows of this process only (facts/strata.md 1.6).
    pub budget: Option<u64>,
}

impl Card {
    /// Bytes that can be used.
    pub fn usable(&self) -> u64 {
        self.budget.unwrap_or(self.free)
    }
}

/// Which cards are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Choice {
    /// The best one, if there is one.
    #[default]
    Best,
    /// All that can be used and are not integrated.
    All,
    /// These, in this order.
    Named(Vec<u32>),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let numbers = text.split(',').map(|number| number.trim().parse().map_err(|_| number));
        let numbers = numbers.collect::<Result<Vec<u32>, _>>();
        numbers.map(Self::Named).map_err(|wrong| format!("`{wrong}` is no device number: say `all` or `1,0`"))
    }
}

/// Why a choice is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No such device.
    #[error("there is no device {number}: {}", listed(.known))]
    Unknown {
        /// What was asked for.
        number: u32,
        /// What there is.
        known: Vec<u32>,
    },
    /// A device named twice.
    #[error("device {0} is named twice")]
    Twice(u32),
    /// A device that cannot be used.
    #[error("device {number} ({name}) cannot be used: {reason}")]
    CannotRun {
        /// Its number.
        number: u32,
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// Cards that need different code and round differently.
    #[error(
        "devices {first} ({first_family}) and {second} ({second_family}) are of two families: layers are split over cards of one family only, \
         since the two have different matrix instructions and would not give the same numbers"
    )]
    TwoFamilies {
        /// The first.
        first: u32,
        /// Its family.
        first_family: &'static str,
        /// The first of another family.
        second: u32,
        /// Its family.
        second_family: &'static str,
    },
}

fn listed(numbers: &[u32]) -> String {
    match numbers {
        [] => "no device was found".to_owned(),
        _ => format!("there are {}", numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The cards that are used, in the order of their layers; none: the CPU computes.
///
/// Integrated cards and those that cannot run are left out unless they are named; a named one that cannot run is refused.
///
/// # Errors
/// [`Refused`].
pub fn choose<'a>(cards: &'a [Card], choice: &Choice) -> Result<Vec<&'a Card>, Refused> {
    let candidates = cards.iter().filter(|card| !card.is_integrated && card.cannot_run.is_none());
    let chosen: Vec<&Card> = match choice {
        // Of two alike the first, as HIP numbers them.
        Choice::Best => candidates.rev().max_by_key(|card| card.usable()).into_iter().collect(),
        Choice::All => candidates.collect(),
        Choice::Named(numbers) => named(cards, numbers)?,
    };
    let families: Vec<(u32, Family)> =
        chosen.iter().filter_map(|card| card.target.map(|target| (card.number, target.family()))).collect();
    if let Some((first, family)) = families.first()
        && let Some((second, other)) = families.iter().find(|(_, other)| other != family)
    {
        return Err(Refused::TwoFamilies {
            first: *first,
            first_family: family.name(),
            second: *second,
            second_family: other.name(),
        });
    }
    Ok(chosen)
}

fn named<'a>(cards: &'a [Card], numbers: &[u32]) -> Result<Vec<&'a Card>, Refused> {
    let mut chosen: Vec<&Card> = Vec::new();
    for number in numbers {
        let card = cards.iter().find(|card| card.number == *number).ok_or_else(|| Refused::Unknown {
            number: *number,
            known: cards.iter().map(|card| card.number).collect(),
        })?;
        if chosen.iter().any(|other| other.number == *number) {
            return Err(Refused::Twice(*number));
        }
        if let Some(reason) = &card.cannot_run {
            return Err(Refused::CannotRun {
                number: *number,
                name: card.name.clone(),
                reason: reason.clone(),
            });
        }
        chosen.push(card);
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(number: u32, arch: &str, gib: u64, is_integrated: bool) -> Card {
        let target = Target::parse(arch).ok();
        let cannot_run = target.is_none().then(|| format!("`{arch}` is no target of Strata"));
        Card {
            number,
            name: format!("card {number}"),
            target,
            cannot_run,
            is_integrated,
            free: gib << 30,
            budget: None,
        }
    }

    #[test]
    fn every_choice_has_its_cards_or_its_reason() {
        let cards = [
            card(0, "gfx90c", 12, true),
            card(1, "gfx1100", 24, false),
            card(2, "gfx906", 32, false),
            card(3, "gfx1100", 24, false),
            card(4, "gfx1151", 96, true),
            card(5, "gfx1201", 16, false),
        ];
        let table: [(&[usize], &str, &str); 11] = [
            (&[0, 1, 2, 3, 4], "", "1"),
            (&[0, 2, 4], "", ""),
            (&[0, 1, 2, 3, 4], "all", "1 3"),
            (&[0, 1, 2, 3, 4], "3,1", "3 1"),
            (&[0, 4], "4", "4"),
            (&[0, 1], "0", "device 0 (card 0) cannot be used: `gfx90c` is no target of Strata"),
            (&[0, 1], "7", "there is no device 7: there are 0, 1"),
            (&[], "0", "there is no device 0: no device was found"),
            (&[1], "1,1", "device 1 is named twice"),
            (&[1, 2], "2", "device 2 (card 2) cannot be used: `gfx906` is no target of Strata"),
            (&[1, 5], "", "1"),
        ];
        for (there, choice, expected) in table {
            let there: Vec<Card> = there.iter().map(|index| cards[*index].clone()).collect();
            let choice = if choice.is_empty() { Choice::Best } else { choice.parse().expect("a choice") };
            let said = match choose(&there, &choice) {
                Ok(chosen) => chosen.iter().map(|card| card.number.to_string()).collect::<Vec<_>>().join(" "),
                Err(refused) => refused.to_string(),
            };
            assert_eq!(said, expected, "{choice:?}");
        }
        let two = choose(&cards, &Choice::All).expect_err("two families").to_string();
        assert!(two.starts_with("devices 1 (RDNA 3) and 5 (RDNA 4) are of two families"), "{two}");
        assert_eq!(
            "1,x".parse::<Choice>().expect_err("wrong"),
            "`x` is no device number: say `all` or `1,0`"
        );
    }

    #[test]
    fn on_windows_the_budget_counts() {
        let busy = Card { budget: Some(2 << 30), ..card(0, "gfx1100", 24, false) };
        let cards = [busy, card(1, "gfx1100", 16, false)];
        assert_eq!(choose(&cards, &Choice::Best).expect("cards")[0].number, 1);
    }
}
