//! `cargo xtask verify`

use super::{MissingPrerequisite, Session};
use crate::dist::{SUMS_FILE, check_sums, verify_archive, verify_folder};
use crate::files::Named;
use crate::store::load_installed;
use crate::ui::counted;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

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
    /// Also run each kernel of a folder on a CPU interpreter, against its reference
    #[arg(long)]
    simulate: bool,
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
                values.push(
                    json!({"path": path.display().to_string(), "kind": "signature", "comment": comment}),
                );
                continue;
            }
            let key = self.pubkey.as_deref();
            let checked = if path.is_file() { verify_archive(path, key)? } else { verify_folder(path)? };
            let signed = if path.is_file() { signed } else { "" };
            lines.push(format!("ok  {} ({}, {} files{signed})", path.display(), checked.kind, checked.files));
            lines.extend(checked.skipped.iter().map(|skipped| format!("    not checked: {skipped}")));
            if self.simulate {
                lines.push(simulate(session, path)?);
            }
            values.push(json!({
                "path": path.display().to_string(), "kind": checked.kind, "files": checked.files, "skipped_checks": checked.skipped,
            }));
        }
        session.ui.data(&lines.join("\n"), &json!({"verified": values}));
        Ok(())
    }
}

/// Kernels that do not compute what their references do.
#[derive(Debug, thiserror::Error)]
#[error("{}: the interpreter finds {} at fault\n{}", .folder.display(), counted(.failed.len(), "kernel"), .failed.join("\n"))]
pub(crate) struct SimulationFailed {
    /// What was simulated.
    pub(crate) folder: PathBuf,
    /// A line each.
    pub(crate) failed: Vec<String>,
}

/// Runs the kernels of an artifact folder or an unpacked release, and says how many; fails with those that do not compute what they should.
fn simulate(session: &Session, folder: &Path) -> anyhow::Result<String> {
    let lock = session.lock()?;
    let installed = load_installed(&session.store, session.select(&lock)?)?;
    let llvm = installed.packages.iter().find(|package| package.receipt.package == "llvm");
    let llvm = llvm.ok_or_else(|| MissingPrerequisite {
        what: format!("the toolchain {} has no llvm, whose disassembler it takes", installed.name),
        mend: "cargo xtask verify --toolchain lite --simulate FOLDER".to_owned(),
    })?;
    let report = simulate::check(folder, &gfx_sim::Disassembler::of_tree(&llvm.tree))?;
    let failed: Vec<String> = report.failed().map(ToString::to_string).collect();
    if !failed.is_empty() {
        return Err(SimulationFailed { folder: folder.to_owned(), failed }.into());
    }
    Ok(report.summary().lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n"))
}
