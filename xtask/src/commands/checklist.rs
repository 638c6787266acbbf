//! `cargo xtask checklist`

use super::Session;
use clap::Args;
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// Say what is missing before a release may be tagged
///
/// What a program can see is checked; what it cannot is listed as `by hand`. Ends with code 1 when something is missing.
#[derive(Debug, Args)]
pub(crate) struct Checklist {
    /// The tag that will be made [default: `v` and the version of Cargo.toml]
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
}

/// Something is missing.
#[derive(Debug, thiserror::Error)]
#[error("{missing} of {total} points of the release checklist are missing")]
pub(crate) struct NotReady {
    /// How many.
    pub(crate) missing: usize,
    /// Of how many that are checked.
    pub(crate) total: usize,
}

/// What the points are decided from.
#[derive(Debug, Clone, Default)]
struct Facts {
    version: String,
    tag: String,
    /// `git status --porcelain`
    changes: String,
    /// The tag exists already.
    is_tagged: bool,
    changelog: String,
    /// `cargo metadata --locked` went well.
    is_cargo_locked: bool,
    /// Why toolchains.lock is not good.
    lock: Option<String>,
    /// The names in `dist/`.
    dist: Vec<String>,
}

/// One point of the list.
#[derive(Debug, PartialEq, Eq)]
struct Point {
    is_done: bool,
    what: &'static str,
    mend: String,
}

/// What no program sees.
const BY_HAND: [&str; 5] = [
    "cargo test --workspace passes on this commit",
    "cargo xtask dist --check --targets gfx1100,gfx1201 finds no difference",
    "cargo deny check advisories, on a machine whose network has the database, finds nothing",
    "docs/verification.md says nothing that is no longer true",
    "the zip was started on a machine with a card of each target, or README.md (\"Limits\") says that it was not",
];

impl Checklist {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let points = points(&self.facts(session));
        let line = |point: &Point| match point.is_done {
            true => format!("ok       {}", point.what),
            false => format!("missing  {}\n         {}", point.what, point.mend),
        };
        let mut lines: Vec<String> = points.iter().map(line).collect();
        lines.extend(BY_HAND.iter().map(|what| format!("by hand  {what}")));
        let values =
            points.iter().map(|point| json!({"done": point.is_done, "what": point.what, "mend": point.mend}));
        session
            .ui
            .data(&lines.join("\n"), &json!({"points": values.collect::<Vec<_>>(), "by_hand": BY_HAND}));
        match points.iter().filter(|point| !point.is_done).count() {
            0 => Ok(()),
            missing => Err(NotReady { missing, total: points.len() }.into()),
        }
    }

    fn facts(&self, session: &Session) -> Facts {
        let root = &session.root;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let tag = self.tag.clone().unwrap_or_else(|| format!("v{version}"));
        let entries = std::fs::read_dir(root.join("dist")).into_iter().flatten().flatten();
        let is_tagged =
            printed(root, "git", &["tag", "--list", &tag]).is_some_and(|tags| !tags.trim().is_empty());
        Facts {
            is_tagged,
            changes: printed(root, "git", &["status", "--porcelain"]).unwrap_or_else(|| "?".to_owned()),
            changelog: std::fs::read_to_string(root.join("CHANGELOG.md")).unwrap_or_default(),
            is_cargo_locked: printed(root, "cargo", &["metadata", "--locked", "--format-version", "1"])
                .is_some(),
            lock: session.lock().err().map(|error| error.to_string()),
            dist: entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect(),
            version,
            tag,
        }
    }
}

/// What a program prints; `None` when it fails.
fn printed(root: &Path, program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn points(facts: &Facts) -> Vec<Point> {
    let point = |is_done, what, mend: String| Point { is_done, what, mend };
    let Facts { version, tag, dist, .. } = facts;
    let has_zip =
        dist.iter().any(|name| name.starts_with(&format!("strata-{version}-")) && name.ends_with(".zip"));
    let has = |name: &str| dist.iter().any(|own| own == name);
    vec![
        point(facts.changes.is_empty(), "everything is committed", "git status names what is not".to_owned()),
        point(
            *tag == format!("v{version}"),
            "the tag is the version of Cargo.toml",
            format!("the version is {version}: mend it in Cargo.toml, or use --tag v{version}"),
        ),
        point(!facts.is_tagged, "the tag is new", format!("{tag} exists: raise the version in Cargo.toml")),
        point(
            facts.changelog.lines().any(|line| is_heading_of(line, version)),
            "CHANGELOG.md has a section for the version",
            format!("write `## {version}` and what is new for a user"),
        ),
        point(
            facts.is_cargo_locked,
            "Cargo.lock is current",
            "cargo metadata --locked says what is not".to_owned(),
        ),
        point(facts.lock.is_none(), "toolchains.lock is well formed", facts.lock.clone().unwrap_or_default()),
        point(has_zip, "dist/ has the zips of the version", "cargo xtask release --targets all".to_owned()),
        point(has("SHA256SUMS"), "dist/ has their SHA256SUMS", "cargo xtask dist --targets all".to_owned()),
        point(
            has("SHA256SUMS.minisig"),
            "SHA256SUMS is signed",
            "cargo xtask dist --targets all --sign-key strata.key".to_owned(),
        ),
    ]
}

/// `## 0.1.0`, `## [0.1.0] - 2026-11-30`
fn is_heading_of(line: &str, version: &str) -> bool {
    let words = line.strip_prefix("## ").and_then(|rest| rest.split_whitespace().next());
    words.is_some_and(|word| word.trim_matches(['[', ']', 'v']) == version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready() -> Facts {
        Facts {
            version: "1.2.3".to_owned(),
            tag: "v1.2.3".to_owned(),
            changelog: "# Changes\n\n## [1.2.3] - 2026-11-30\n".to_owned(),
            is_cargo_locked: true,
            dist: ["strata-1.2.3-x-gfx1201.zip", "SHA256SUMS", "SHA256SUMS.minisig"]
                .map(str::to_owned)
                .into(),
            ..Facts::default()
        }
    }

    #[test]
    fn each_point_of_the_checklist_can_be_missing() {
        let missing = |facts: Facts| -> Vec<&str> {
            points(&facts).into_iter().filter(|point| !point.is_done).map(|point| point.what).collect()
        };
        assert_eq!(missing(ready()), Vec::<&str>::new());
        type Change = fn(&mut Facts);
        let changes: [(Change, &str); 9] = [
            (|f| f.changes = " M README.md\n".to_owned(), "everything is committed"),
            (|f| f.tag = "v1.2".to_owned(), "the tag is the version of Cargo.toml"),
            (|f| f.is_tagged = true, "the tag is new"),
            (
                |f| f.changelog = "## 1.2.30\n## 1.2\n".to_owned(),
                "CHANGELOG.md has a section for the version",
            ),
            (|f| f.is_cargo_locked = false, "Cargo.lock is current"),
            (|f| f.lock = Some("4:1".to_owned()), "toolchains.lock is well formed"),
            (|f| f.dist[0] = "strata-1.2.2-x-gfx1201.zip".to_owned(), "dist/ has the zips of the version"),
            (|f| f.dist[1].clear(), "dist/ has their SHA256SUMS"),
            (|f| f.dist[2].clear(), "SHA256SUMS is signed"),
        ];
        assert_eq!(changes.len(), points(&ready()).len(), "a point without a case");
        for (change, expected) in changes {
            let mut facts = ready();
            change(&mut facts);
            assert_eq!(missing(facts), [expected]);
        }
    }
}
