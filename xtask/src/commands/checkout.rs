//! What git says of the checkout. It is read before anything is built or packed: what git refuses must cost nobody a build.

use super::Usage;
use crate::dist::{Error, Source, Timestamp};
use std::path::Path;
use std::process::{Command, Stdio};

/// Where a release comes from, and its time.
#[derive(Debug, Clone)]
pub(super) struct Checkout {
    /// What provenance says of the sources.
    pub(super) source: Source,
    /// Of SOURCE_DATE_EPOCH (reproducible-builds.org), of the commit, or none at all: never of the clock.
    pub(super) time: Timestamp,
}

impl Checkout {
    /// Asks git about the workspace at `root`.
    pub(super) fn read(root: &Path) -> anyhow::Result<Self> {
        // Quiet, and so without words, where there is no commit yet.
        let revision = git(root, &["rev-parse", "--verify", "--quiet", "HEAD"])?;
        let time = match (std::env::var("SOURCE_DATE_EPOCH").ok().filter(|text| !text.is_empty()), &revision)
        {
            (Some(text), _) => seconds(&text).ok_or_else(|| {
                Usage::new(
                    format!("SOURCE_DATE_EPOCH=`{text}` is no time"),
                    "it takes the seconds since 1970, e.g. $(git log -1 --format=%ct)",
                )
            })?,
            (None, Some(_)) => {
                git(root, &["log", "-1", "--format=%ct"])?.as_deref().and_then(seconds).unwrap_or(0)
            }
            (None, None) => 0,
        };
        let builder = std::env::var("STRATA_BUILDER_ID").ok().filter(|id| !id.is_empty());
        let source = Source {
            is_dirty: git(root, &["status", "--porcelain"])?.is_some_and(|text| !text.is_empty()),
            revision,
            builder: builder.unwrap_or_else(|| format!("urn:strata:xtask:{}", env!("CARGO_PKG_VERSION"))),
        };
        Ok(Self { source, time: Timestamp(time) })
    }
}

fn seconds<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.trim().parse().ok()
}

/// What git answers; `None` where there is no git, no repository to ask about, or nothing to say.
fn git(root: &Path, arguments: &[&str]) -> Result<Option<String>, Error> {
    let output = Command::new("git").args(arguments).current_dir(root).stdin(Stdio::null()).output();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let Ok(output) = output else { return Ok(None) };
    let words = text(&output.stderr);
    match output.status.success() {
        true => Ok(Some(text(&output.stdout))),
        false if words.is_empty() || !root.join(".git").exists() => Ok(None),
        false => Err(Error::Git { root: root.to_owned(), words }),
    }
}
