//! `cargo xtask store`

use super::bootstrap::From;
use super::{Session, Usage};
use crate::digest::Sha256;
use crate::dist::verify_entry;
use crate::lock::{Lock, Package, Toolchain};
use crate::store::{Depth, Garbage, Keep, Receipt, Used, sealed_at};
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
        /// Fetch again what differs, whichever toolchain uses it, and put it in its place when it is whole
        #[arg(long)]
        repair: bool,
        #[command(flatten)]
        from: From,
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
        match &self.action {
            Action::List => list(session),
            Action::Verify { repair: false, from, .. } if from.says_anything() => {
                let mend = "cargo xtask store verify --repair, with the same options";
                Err(Usage::new("without --repair nothing is fetched", mend).into())
            }
            Action::Verify { quick, repair, from } => verify(session, *quick, repair.then_some(from)),
            Action::Gc { keep, older_than, dry_run } => {
                let younger_than = Duration::from_secs(older_than.saturating_mul(86_400));
                gc(session, Keep { newest: *keep, younger_than }, *dry_run)
            }
            Action::Path => {
                let root = session.store.root();
                session.ui.data(&root.display().to_string(), &json!({"path": root.display().to_string()}));
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
    for (name, receipt) in session.store.receipts() {
        let user = users.iter().find(|(key, _)| key.short() == name);
        let used_by = user.map(|(_, names)| names.clone()).unwrap_or_default();
        let shown =
            if used_by.is_empty() { "no toolchain of the lock".to_owned() } else { used_by.join(", ") };
        match receipt {
            Ok(Receipt { key, package, version, files, bytes, .. }) => {
                let size = human_bytes(bytes);
                lines.push(format!(
                    "{name}  {package:<20} {version:<24} {size:>10} {files:>6} files  {shown}"
                ));
                values.push(json!({
                    "key": key, "package": package, "version": version, "bytes": bytes, "files": files, "used_by": used_by,
                }));
            }
            Err(error) => {
                let damage = crate::ui::chain(&error);
                lines.push(format!("{name}  damaged: {damage}"));
                values.push(json!({"key": name, "damaged": damage, "used_by": used_by}));
            }
        }
    }
    session.ui.data(&lines.join("\n"), &json!({"entries": values}));
    Ok(())
}

fn uses(toolchain: &Toolchain, package: &Package) -> bool {
    package.host.is_none_or(|host| host == toolchain.host) && toolchain.packages.contains(&package.name)
}

/// The toolchains that use each key.
fn users(lock: &Lock) -> BTreeMap<Sha256, Vec<String>> {
    let mut users: BTreeMap<Sha256, Vec<String>> = BTreeMap::new();
    for package in &lock.packages {
        let using = lock.toolchains.iter().filter(|toolchain| uses(toolchain, package));
        let names: Vec<String> = using.map(|toolchain| toolchain.name.clone()).collect();
        for source in &package.sources {
            users.entry(source.key(&package.only)).or_default().extend(names.clone());
        }
    }
    users
}

/// An entry that is not what it was, and how it differs.
struct Broken {
    name: String,
    error: anyhow::Error,
}

fn verify(session: &Session, quick: bool, repair: Option<&From>) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    let mut broken = Vec::new();
    for name in session.store.entries() {
        let folder = session.store.root().join(&name);
        let compare = || -> anyhow::Result<_> {
            let depth = if quick { Depth::Quick(sealed_at(&folder)?) } else { Depth::Deep };
            Ok(verify_entry(&folder, depth)?)
        };
        match compare() {
            Ok(checked) => lines.push(format!("ok  {name} ({} files)", checked.files)),
            Err(error) => broken.push(Broken { name, error }),
        }
    }
    let count = (lines.len(), broken.len());
    let mut failed = None;
    for Broken { name, error } in broken {
        // The last one is told as the error that it is.
        if let Some(earlier) = failed.take() {
            warn(session, &earlier);
        }
        failed = match repair {
            None => Some(error),
            Some(from) => {
                warn(session, &error);
                let done = repair_entry(session, from, &name);
                done.map(|done| lines.push(format!("{done}  {name}"))).err()
            }
        };
    }
    match failed {
        Some(error) => Err(error),
        None => {
            session.ui.data(&lines.join("\n"), &json!({"whole": count.0, "broken": count.1}));
            Ok(())
        }
    }
}

fn warn(session: &Session, error: &anyhow::Error) {
    session.ui.warn(&format!("{error}"));
}

/// Fetches an entry again, for whichever toolchain uses it; one that nobody could fetch again is removed. Tells what was done.
fn repair_entry(session: &Session, from: &From, name: &str) -> anyhow::Result<&'static str> {
    let lock = session.lock()?;
    let is_it = |package: &&Package| package.sources.iter().any(|s| s.key(&package.only).short() == name);
    let package = lock.packages.iter().find(is_it);
    let toolchain =
        package.and_then(|package| lock.toolchains.iter().find(|toolchain| uses(toolchain, package)));
    let (Some(package), Some(toolchain)) = (package, toolchain) else {
        session.store.discard(&session.store.root().join(name))?;
        return Ok("discarded, no toolchain of the lock uses it");
    };
    let receipt = session.store.install_again(package, toolchain, &session.fetching(from))?;
    if receipt.key.short() != name {
        // From another source than it was, so beside it.
        session.store.discard(&session.store.root().join(name))?;
    }
    Ok("fetched again")
}

fn gc(session: &Session, keep: Keep, dry_run: bool) -> anyhow::Result<()> {
    let lock = session.lock()?;
    let mut used = Used::default();
    for package in lock.packages.iter().filter(|p| lock.toolchains.iter().any(|t| uses(t, p))) {
        used.entries.extend(package.sources.iter().map(|source| source.key(&package.only)));
        used.archives.extend(package.sources.iter().flat_map(|s| &s.archives).map(|archive| archive.sha256));
    }
    let garbage = session.store.garbage(&used, keep)?;
    let mut total = 0;
    let mut lines = Vec::new();
    let mut values = Vec::new();
    for item in &garbage {
        if !dry_run && !session.store.remove(item)? {
            continue;
        }
        let Garbage { path, why, bytes, .. } = item;
        total += bytes;
        let name = path.strip_prefix(session.store.root()).unwrap_or(path).display().to_string();
        lines.push(format!("{name}  {:>10}  {why}", human_bytes(*bytes)));
        values.push(json!({"name": name, "bytes": bytes, "why": why}));
    }
    let verb = if dry_run { "would free" } else { "freed" };
    lines.push(format!("{verb} {}", human_bytes(total)));
    session.ui.data(&lines.join("\n"), &json!({"items": values, "bytes": total, "dry_run": dry_run}));
    Ok(())
}
