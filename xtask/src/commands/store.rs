//! `cargo xtask store`

use super::Session;
use crate::digest::Sha256;
use crate::dist::verify_folder;
use crate::lock::Lock;
use crate::store::Receipt;
use crate::ui::human_bytes;
use clap::{Args, Subcommand};
use serde_json::json;
use std::collections::BTreeMap;

/// List or verify what is in the store
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
    Verify,
    /// Print the store's folder
    Path,
}

impl StoreCommand {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        match self.action {
            Action::List => list(session),
            Action::Verify => verify(session),
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

fn verify(session: &Session) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    for name in session.store.entries() {
        let checked = verify_folder(&session.store.root().join(&name))?;
        lines.push(format!("ok  {name} ({} files)", checked.files));
    }
    session.ui.data(&lines.join("\n"), &json!({"entries": lines.len()}));
    Ok(())
}
