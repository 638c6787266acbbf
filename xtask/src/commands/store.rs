//! `cargo xtask store`

use super::Session;
use crate::digest::Sha256;
use crate::dist::verify_entry;
use crate::lock::Lock;
use crate::store::{Depth, Garbage, Keep, Receipt, sealed_at};
use crate::ui::human_bytes;
use clap::{Args, Subcommand};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// List, verify or clean up the store
#[derive(Debug, Args)]
pub(crate) struct StoreCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the entries with their sizes and the toolchains that use them
    List,
    /// Compare every entry with its manifest
    Verify {
        /// Look at sizes and times only
        #[arg(long)]
        quick: bool,
        /// Fetch again what differs
        #[arg(long)]
        repair: bool,
    },
    /// Remove entries that no toolchain of the lock uses, and what processes that died have left
    Gc {
        /// Keep the newest N unused entries
        #[arg(long, value_name = "N", default_value_t = 0)]
        keep: usize,
        /// Remove only entries that were installed more than DAYS ago
        #[arg(long, value_name = "DAYS", default_value_t = 0)]
        older_than: u64,
        /// Print what would be removed, and do nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Print the store's folder
    Path,
}

impl StoreCommand {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        match self.action {
            Action::List => list(session),
            Action::Verify { quick, repair } => verify(session, quick, repair),
            Action::Gc { keep, older_than, dry_run } => {
                let younger_than = Duration::from_secs(older_than * 86_400);
                gc(session, Keep { newest: keep, younger_than }, dry_run)
            }
            Action::Path => {
                let root = session.store.root();
                session.ui.data(&root.display().to_string(), &json!({"path": root}));
                Ok(())
            }
        }
    }
}

fn list(session: &Session) -> anyhow::Result<()> {
    let lock = session.lock()?;
    let users = users(&lock);
    let mut lines = Vec::new();
    let mut values = Vec::new();
    for key in users.keys() {
        let Some(receipt) = session.store.receipt(*key)? else { continue };
        let Receipt { package, version, files, bytes, .. } = &receipt;
        let used_by = users[key].join(", ");
        lines.push(format!(
            "{}  {package:<20} {version:<24} {:>10} {files:>6} files  {used_by}",
            key.short(),
            human_bytes(*bytes)
        ));
        values.push(json!({
            "key": key, "package": package, "version": version, "bytes": bytes, "files": files, "used_by": users[key],
        }));
    }
    session.ui.data(&lines.join("\n"), &json!({"entries": values}));
    Ok(())
}

/// The toolchains that use each key.
fn users(lock: &Lock) -> BTreeMap<Sha256, Vec<String>> {
    let mut users: BTreeMap<Sha256, Vec<String>> = BTreeMap::new();
    for package in &lock.packages {
        let uses = |t: &&crate::lock::Toolchain| {
            package.host.is_none_or(|host| host == t.host) && t.packages.contains(&package.name)
        };
        let names: Vec<String> = lock.toolchains.iter().filter(uses).map(|t| t.name.clone()).collect();
        for source in &package.sources {
            users.entry(source.key(&package.only)).or_default().extend(names.clone());
        }
    }
    users
}

fn verify(session: &Session, quick: bool, repair: bool) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    let mut broken = Vec::new();
    for name in session.store.entries() {
        let folder = session.store.root().join(&name);
        let depth = if quick { Depth::Quick(sealed_at(&folder)?) } else { Depth::Deep };
        match verify_entry(&folder, depth) {
            Ok(checked) => lines.push(format!("ok  {name} ({} files)", checked.files)),
            Err(error) => broken.push((name, folder, error)),
        }
    }
    let count = (lines.len(), broken.len());
    match (broken.is_empty(), repair) {
        (true, _) => {}
        (false, true) => {
            for (name, folder, error) in broken {
                session.ui.warn(&format!("{error}"));
                session.store.discard(&folder)?;
                lines.push(format!("discarded  {name}"));
            }
            let lock = session.lock()?;
            super::bootstrap::install(session, session.select(&lock)?, &super::bootstrap::From::default())?;
        }
        (false, false) => {
            let last = broken.pop();
            broken.iter().for_each(|(_, _, error)| session.ui.warn(&format!("{error}")));
            if let Some((_, _, error)) = last {
                return Err(error.into());
            }
        }
    }
    session.ui.data(&lines.join("\n"), &json!({"whole": count.0, "broken": count.1}));
    Ok(())
}

fn gc(session: &Session, keep: Keep, dry_run: bool) -> anyhow::Result<()> {
    let lock = session.lock()?;
    let used = users(&lock).into_iter().filter(|(_, names)| !names.is_empty()).map(|(key, _)| key);
    let garbage = session.store.garbage(&used.collect(), keep)?;
    let mut lines = Vec::new();
    for Garbage { path, why, bytes } in &garbage {
        let name = path.strip_prefix(session.store.root()).unwrap_or(path).display().to_string();
        lines.push(format!("{name}  {:>10}  {why}", human_bytes(*bytes)));
        if !dry_run {
            session.store.discard(path)?;
        }
    }
    let total: u64 = garbage.iter().map(|item| item.bytes).sum();
    let verb = if dry_run { "would free" } else { "freed" };
    lines.push(format!("{verb} {}", human_bytes(total)));
    session.ui.data(&lines.join("\n"), &json!({"items": garbage.len(), "bytes": total, "dry_run": dry_run}));
    Ok(())
}
