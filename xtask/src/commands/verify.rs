//! `cargo xtask verify`

use super::Session;
use crate::dist::{SUMS_FILE, check_sums, verify_archive, verify_folder};
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
    /// Ask for the signature of the SHA256SUMS beside each zip, or of each SHA256SUMS that is named: a public key of minisign, or its file
    #[arg(long, value_name = "KEY", requires = "paths")]
    pubkey: Option<String>,
}

impl Verify {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let entries =
            || session.store.entries().into_iter().map(|name| session.store.root().join(name)).collect();
        let paths: Vec<PathBuf> = if self.paths.is_empty() { entries() } else { self.paths.clone() };
        let mut lines = Vec::new();
        let mut values = Vec::new();
        let signed = if self.pubkey.is_some() { ", signed" } else { "" };
        for path in &paths {
            std::fs::metadata(path).named("read", path)?;
            let is_sums = path.file_name().is_some_and(|name| name == SUMS_FILE);
            if let (true, Some(key)) = (is_sums, &self.pubkey) {
                let comment = check_sums(path.parent().unwrap_or(path), key)?;
                lines.push(format!("ok  {} (signed: {comment})", path.display()));
                values.push(json!({"path": path, "kind": "signature", "comment": comment}));
                continue;
            }
            let key = self.pubkey.as_deref();
            let checked = if path.is_file() { verify_archive(path, key)? } else { verify_folder(path)? };
            let signed = if path.is_file() { signed } else { "" };
            lines.push(format!("ok  {} ({}, {} files{signed})", path.display(), checked.kind, checked.files));
            lines.extend(checked.skipped.iter().map(|skipped| format!("    not checked: {skipped}")));
            values.push(json!({
                "path": path, "kind": checked.kind, "files": checked.files, "skipped_checks": checked.skipped,
            }));
        }
        session.ui.data(&lines.join("\n"), &json!({"verified": values}));
        Ok(())
    }
}
