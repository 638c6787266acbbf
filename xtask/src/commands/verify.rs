//! `cargo xtask verify`

use super::Session;
use crate::dist::{verify_folder, verify_zip};
use crate::files::Named;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Compare a store entry, an artifact folder, a release or a zip with its recorded hashes
///
/// Without a path: every entry of the store. A file that is missing, extra or changed is named, and the exit code is 3.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// What to compare
    paths: Vec<PathBuf>,
}

impl Verify {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let entries =
            || session.store.entries().into_iter().map(|name| session.store.root().join(name)).collect();
        let paths: Vec<PathBuf> = if self.paths.is_empty() { entries() } else { self.paths.clone() };
        let mut lines = Vec::new();
        let mut values = Vec::new();
        for path in &paths {
            std::fs::metadata(path).named("read", path)?;
            let checked = if path.is_file() { verify_zip(path)? } else { verify_folder(path)? };
            lines.push(format!("ok  {} ({}, {} files)", path.display(), checked.kind, checked.files));
            lines.extend(checked.skipped.iter().map(|skipped| format!("    not checked: {skipped}")));
            values.push(json!({
                "path": path, "kind": checked.kind, "files": checked.files, "skipped_checks": checked.skipped,
            }));
        }
        session.ui.data(&lines.join("\n"), &json!({"verified": values}));
        Ok(())
    }
}
