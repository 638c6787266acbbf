//! `cargo xtask bootstrap`

use super::Session;
use crate::fetch::Mirror;
use crate::lock::Selected;
use crate::store::{Installed, bootstrap};
use crate::ui::{human_bytes, human_time};
use clap::Args;
use serde_json::json;
use std::time::Instant;

/// Download, verify and unpack the toolchain into the store
///
/// Nothing is installed outside the store and no root is needed. What is there already is not touched; a second run does nothing.
#[derive(Debug, Args)]
pub(crate) struct Bootstrap {
    #[command(flatten)]
    from: From,
    /// Print what would be downloaded, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// Where archives may come from, beside the sources of the lock.
#[derive(Debug, Default, Args)]
pub(crate) struct From {
    /// Folder or server that holds archives by digest, as `cargo xtask mirror` writes it; may be given several times
    #[arg(long = "mirror", value_name = "[NAME=]URL|DIR")]
    pub(super) mirrors: Vec<Mirror>,
    /// Use only the store, what earlier runs have kept, and mirrors that are folders
    #[arg(long)]
    pub(super) offline: bool,
    /// Bring one archive over N connections where the server sends ranges [default: 4 for archives of 256 MiB and more, else 1]
    #[arg(long, value_name = "N")]
    pub(super) connections: Option<u64>,
}

impl From {
    /// Whether any of it was given.
    pub(super) fn says_anything(&self) -> bool {
        self.offline || self.connections.is_some() || !self.mirrors.is_empty()
    }
}

impl Bootstrap {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let lock = session.lock()?;
        let selected = session.select(&lock)?;
        if self.dry_run {
            return preview(session, selected);
        }
        let installed = install(session, selected, &self.from)?;
        let packages = installed.packages.iter().map(|package| {
            json!({
                "name": package.receipt.package,
                "version": package.receipt.version,
                "key": package.receipt.key,
                "tree": package.tree.display().to_string(),
                "new": package.is_new,
            })
        });
        let value = json!({
            "toolchain": installed.name,
            "digest": installed.digest,
            "packages": packages.collect::<Vec<_>>(),
        });
        session.ui.data(&format!("toolchain {} {}", installed.name, installed.digest), &value);
        Ok(())
    }
}

/// Installs what is missing and says what was done.
pub(super) fn install(session: &Session, selected: Selected, from: &From) -> anyhow::Result<Installed> {
    let start = Instant::now();
    let name = &selected.toolchain.name;
    let installed = session.complete(bootstrap(&session.store, selected, &session.fetching(from))?)?;
    let new: Vec<_> = installed.packages.iter().filter(|package| package.is_new).collect();
    let time = human_time(start.elapsed());
    match new.is_empty() {
        true => session.ui.phase("current", &format!("toolchain {name}, nothing to download ({time})")),
        false => {
            for package in &new {
                let receipt = &package.receipt;
                let size = human_bytes(receipt.bytes);
                session.ui.phase(
                    "installed",
                    &format!("{} {}: {} files, {size}", receipt.package, receipt.version, receipt.files),
                );
            }
            session.ui.phase("ready", &format!("toolchain {name} in {time}"));
        }
    }
    Ok(installed)
}

fn preview(session: &Session, selected: Selected) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    let mut values = Vec::new();
    for package in selected.packages() {
        let mut is_installed = false;
        for source in &package.sources {
            is_installed |= session.store.receipt(source.key(&package.only))?.is_some();
        }
        let size: u64 = package.sources[0].archives.iter().filter_map(|archive| archive.size).sum();
        let state = if is_installed { "in the store" } else { "to download" };
        lines.push(format!(
            "{:<20} {:<24} {:>10}  {state}",
            package.name,
            package.version,
            human_bytes(size)
        ));
        values.push(json!({
            "name": package.name, "version": package.version, "bytes": size, "installed": is_installed,
        }));
    }
    session.ui.data(&lines.join("\n"), &json!({"toolchain": selected.toolchain.name, "packages": values}));
    Ok(())
}
