//! `cargo xtask lock check`

use super::{Session, measure};
use crate::commands::bootstrap::From;
use crate::fetch;
use crate::lock::{Package, Source};
use crate::store::{Entry, Manifest};
use clap::Args;
use serde_json::json;

/// Check the lock's form; with --online, measure every source of the toolchain again and compare
#[derive(Debug, Args)]
pub(super) struct Check {
    /// Download and measure every source again, also those that a bootstrap would not need
    #[arg(long, conflicts_with = "offline")]
    online: bool,
    /// Check only the form and what the lock says of itself, which is the default
    #[arg(long)]
    offline: bool,
}

/// A lock that its sources do not agree with, or that could not be compared with all of them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// Somebody has other bytes than the lock says.
    #[error("{wrong} of {total} sources do not give what the lock says")]
    Wrong {
        /// How many.
        wrong: usize,
        /// Of how many.
        total: usize,
    },
    /// Nothing is known to be wrong.
    #[error("{unasked} of {total} sources could not be asked; the others give what the lock says")]
    Unasked {
        /// How many.
        unasked: usize,
        /// Of how many.
        total: usize,
    },
}

/// What one source gave.
enum Verdict {
    Good(Manifest),
    Wrong(fetch::Error),
    Unasked(fetch::Error),
}

impl Check {
    /// Runs it.
    pub(super) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let lock = session.lock()?;
        let (mut good, mut wrong, mut unasked) = (0, 0, 0);
        if self.online {
            let selected = session.select(&lock)?;
            for package in selected.packages() {
                let verdicts = measure_again(session, package)?;
                for (source, verdict) in package.sources.iter().zip(&verdicts) {
                    say(session, package, source, verdict);
                    match verdict {
                        Verdict::Good(_) => good += 1,
                        Verdict::Wrong(_) => wrong += 1,
                        Verdict::Unasked(_) => unasked += 1,
                    }
                }
                compare_trees(session, package, &verdicts);
            }
        }
        let total = good + wrong + unasked;
        let (toolchains, packages) = (lock.toolchains.len(), lock.packages.len());
        let value = json!({
            "toolchains": toolchains, "packages": packages, "digest": lock.digest,
            "measured": good, "wrong": wrong, "unasked": unasked,
        });
        let word = if wrong + unasked == 0 { "ok" } else { "checked" };
        let text =
            format!("{word}  {toolchains} toolchains, {packages} packages, {good} sources measured again");
        session.ui.data(&text, &value);
        match (wrong, unasked) {
            (0, 0) => Ok(()),
            (0, unasked) => Err(CheckError::Unasked { unasked, total }.into()),
            (wrong, _) => Err(CheckError::Wrong { wrong, total }.into()),
        }
    }
}

/// Fetches each source of `package` by itself, beside the store.
fn measure_again(session: &Session, package: &Package) -> anyhow::Result<Vec<Verdict>> {
    let context = session.fetching(&From::default());
    let mut verdicts = Vec::new();
    for source in &package.sources {
        let alone = Package { sources: vec![source.clone()], ..package.clone() };
        verdicts.push(match measure::fetch_beside_store(&alone, &context)? {
            Ok(manifest) => Verdict::Good(manifest),
            Err(error) if !error.is_about_the_source() => return Err(error.into()),
            Err(error) if error.is_about_the_way() => Verdict::Unasked(error),
            Err(error) => Verdict::Wrong(error),
        });
    }
    Ok(verdicts)
}

fn say(session: &Session, package: &Package, source: &Source, verdict: &Verdict) {
    let what = format!("{} {} from {}", package.name, package.version, source.channel);
    match verdict {
        Verdict::Good(manifest) => session.ui.phase(
            "checked",
            &format!("{what}: {} files, tree {}", manifest.entries.len(), manifest.digest().short()),
        ),
        Verdict::Wrong(error) => session.ui.warn(&format!("{what} is wrong: {}", crate::ui::chain(error))),
        Verdict::Unasked(error) => {
            session.ui.warn(&format!("{what} could not be asked: {}", crate::ui::chain(error)));
        }
    }
}

/// Two sources of one thing may pack it differently, so a difference is told and is no error.
fn compare_trees(session: &Session, package: &Package, verdicts: &[Verdict]) {
    let mut trees = package.sources.iter().zip(verdicts).filter_map(|(source, verdict)| match verdict {
        Verdict::Good(manifest) => Some((source.channel, manifest)),
        _ => None,
    });
    let Some((first, manifest)) = trees.next() else { return };
    for (channel, other) in trees {
        let text = format!("{}: {first} and {channel} {}", package.name, difference(manifest, other));
        session.ui.phase("compared", &text);
    }
}

/// In one line how two trees differ.
fn difference(a: &Manifest, b: &Manifest) -> String {
    if a == b {
        return "give the same tree".into();
    }
    let only = |a: &Manifest, b: &Manifest| -> Vec<String> {
        let missing = a.entries.iter().filter(|entry| find(b, &entry.path).is_none());
        missing.map(|entry| entry.path.clone()).collect()
    };
    let changed = a.entries.iter().filter(|entry| find(b, &entry.path).is_some_and(|other| other != *entry));
    let named = |what: &str, paths: &[String]| match paths {
        [] => None,
        [path] => Some(format!("{what} `{path}`")),
        [path, ..] => Some(format!("{what} {} files such as `{path}`", paths.len())),
    };
    let changed: Vec<String> = changed.map(|entry| entry.path.clone()).collect();
    let parts = [
        named("only the first has", &only(a, b)),
        named("only the second has", &only(b, a)),
        named("they differ in", &changed),
    ];
    format!("give different trees: {}", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

fn find<'a>(manifest: &'a Manifest, path: &str) -> Option<&'a Entry> {
    let at = manifest.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
    manifest.entries.get(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Kind;

    #[test]
    fn trees_are_compared_in_one_line() {
        let tree = |links: &[(&str, &str)]| {
            let entry = |(path, target): &(&str, &str)| Entry {
                path: (*path).into(),
                kind: Kind::Link { target: (*target).into() },
            };
            Manifest::new(links.iter().map(entry).collect())
        };
        let a = tree(&[("bin/ninja", "x"), ("doc/a", "x"), ("doc/b", "x")]);
        assert_eq!(difference(&a, &a.clone()), "give the same tree");
        insta::assert_snapshot!(
            difference(&a, &tree(&[("bin/ninja", "y"), ("LICENSE", "x")])),
            @"give different trees: only the first has 2 files such as `doc/a`; only the second has `LICENSE`; they differ in `bin/ninja`"
        );
    }
}
