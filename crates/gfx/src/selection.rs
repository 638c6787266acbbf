//! `--targets`: one list in which targets, families, `native` and `all` may stand together.

use crate::target::unknown;
use crate::{DistFamily, ParseError, SelectionError, Target};
use std::str::FromStr;

/// A parsed list. What it comes to depends on the toolchain and the machine: see [`Selection::resolve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection(Vec<Item>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Target(Target),
    Family(DistFamily),
    Native,
    All,
}

/// The families that are no target's name as well.
const FAMILIES: [DistFamily; 3] = [DistFamily::Gfx103XAll, DistFamily::Gfx110XAll, DistFamily::Gfx120XAll];

impl Selection {
    /// Parses names separated by commas, semicolons or spaces, in any case: `gfx1100,gfx1201`, `gfx110X-all;native`, `all`.
    ///
    /// # Errors
    /// Those of [`Target::parse`]; the nearest names then hold families and words too.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let is_separator = |c: char| c == ',' || c == ';' || c.is_whitespace();
        let items: Vec<Item> = text
            .split(is_separator)
            .filter(|name| !name.is_empty())
            .map(parse_item)
            .collect::<Result<_, _>>()?;
        if items.is_empty() { Err(ParseError::Empty) } else { Ok(Self(items)) }
    }

    /// The targets in the order they were written, each once.
    ///
    /// `all` stands for `available`, a family for its targets among `available`; `native` asks the machine, at most once. A target that was
    /// named is kept even where it is not available: only the caller can say what is missing for it.
    ///
    /// # Errors
    /// [`SelectionError::Native`] with the error of `native`; the other variants when a part or the whole comes to nothing.
    pub fn resolve<E>(
        &self,
        available: &[Target],
        native: impl FnOnce() -> Result<Vec<Target>, E>,
    ) -> Result<Vec<Target>, SelectionError<E>> {
        let mut native = Some(native);
        let mut targets = Vec::new();
        for item in &self.0 {
            let named = match item {
                Item::Target(target) => vec![*target],
                Item::All => available.to_vec(),
                // A second `native` would add nothing.
                Item::Native => {
                    native.take().map_or(Ok(Vec::new()), |ask| ask()).map_err(SelectionError::Native)?
                }
                Item::Family(family) => {
                    let members: Vec<Target> =
                        family.targets().filter(|target| available.contains(target)).collect();
                    if members.is_empty() {
                        return Err(SelectionError::EmptyFamily(*family));
                    }
                    members
                }
            };
            for target in named {
                if !targets.contains(&target) {
                    targets.push(target);
                }
            }
        }
        if targets.is_empty() { Err(SelectionError::Empty) } else { Ok(targets) }
    }
}

fn parse_item(name: &str) -> Result<Item, ParseError> {
    if name.eq_ignore_ascii_case("native") {
        return Ok(Item::Native);
    }
    if name.eq_ignore_ascii_case("all") {
        return Ok(Item::All);
    }
    if let Some(family) = FAMILIES.into_iter().find(|family| family.name().eq_ignore_ascii_case(name)) {
        return Ok(Item::Family(family));
    }
    Target::parse(name).map(Item::Target).map_err(|error| match error {
        ParseError::Unknown { name, .. } => {
            let words: Vec<&str> =
                FAMILIES.iter().map(|family| family.name()).chain(["native", "all"]).collect();
            unknown(&name, &words)
        }
        other => other,
    })
}

impl FromStr for Selection {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Target::*;
    use std::convert::Infallible;

    const AVAILABLE: [Target; 4] = [Gfx1100, Gfx1101, Gfx1201, Gfx12Generic];

    fn resolve(text: &str) -> Result<Vec<Target>, SelectionError<Infallible>> {
        Selection::parse(text).expect(text).resolve(&AVAILABLE, || Ok(vec![Gfx1201]))
    }

    #[test]
    fn order_is_kept_and_repeats_vanish() {
        assert_eq!(resolve("gfx1201,gfx1100"), Ok(vec![Gfx1201, Gfx1100]));
        assert_eq!(
            resolve("gfx1101 ; GFX110x-ALL,, native gfx1201 native"),
            Ok(vec![Gfx1101, Gfx1100, Gfx1201])
        );
        assert_eq!(resolve("gfx1201 all"), Ok(vec![Gfx1201, Gfx1100, Gfx1101, Gfx12Generic]));
    }

    #[test]
    fn a_named_target_is_kept_where_it_is_not_available() {
        assert_eq!(resolve("gfx1036"), Ok(vec![Gfx1036]));
    }

    #[test]
    fn nothing_is_an_error() {
        assert_eq!(resolve("gfx103X-all"), Err(SelectionError::EmptyFamily(DistFamily::Gfx103XAll)));
        let none = Selection::parse("all").expect("all").resolve(&[], || Ok::<_, Infallible>(Vec::new()));
        assert_eq!(none, Err(SelectionError::Empty));
        assert_eq!(Selection::parse(" ,; "), Err(ParseError::Empty));
    }

    #[test]
    fn the_machine_is_asked_only_for_native() {
        let ask = || Err::<Vec<Target>, _>("no driver");
        let selection = Selection::parse("gfx1100").expect("a target");
        assert_eq!(selection.resolve(&AVAILABLE, ask), Ok(vec![Gfx1100]));
        let selection = Selection::parse("gfx1100 native").expect("a selection");
        assert_eq!(selection.resolve(&AVAILABLE, ask), Err(SelectionError::Native("no driver")));
    }

    #[test]
    fn suggestions_hold_families_and_words() {
        let message = |text| Selection::parse(text).expect_err(text).to_string();
        assert_eq!(message("gfx110-all"), "unknown target `gfx110-all`; did you mean `gfx110X-all`?");
        assert_eq!(message("gfx1100,nativ"), "unknown target `nativ`; did you mean `native`?");
    }
}
