//! `cargo xtask lock update`

use super::{Session, measure};
use crate::commands::Usage;
use crate::commands::bootstrap::From;
use crate::files;
use crate::lock::{self, Archive, Channel, Host, Package, Source, TreeFacts};
use crate::ui::human_bytes;
use anyhow::Context as _;
use clap::Args;
use serde_json::json;
use std::cmp::Ordering;

/// Show what a newer version would change, and write it
///
/// Registries are asked for their newest version, or for the one that --to names; in addresses the old version is replaced by the new one.
/// Comments and order of the lock stay.
#[derive(Debug, Args)]
pub(super) struct Update {
    /// Name of the package
    name: String,
    /// Version to take; needed where all sources are addresses, unless the file at the address has changed
    #[arg(long, value_name = "VERSION")]
    to: Option<String>,
    /// Triple of the machine that runs it, where the lock has the package for several
    #[arg(long, value_name = "TRIPLE")]
    host: Option<String>,
    /// Take an older version too
    #[arg(long)]
    downgrade: bool,
    /// Print what would change, and leave the lock as it is
    #[arg(long)]
    dry_run: bool,
}

impl Update {
    /// Runs it.
    pub(super) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let path = session.lock_path();
        if session.global.locked && !self.dry_run {
            return Err(lock::Error::Locked { path }.into());
        }
        let text = files::read_text(&path)?;
        let before = lock::parse(&path, &text)?;
        let old = self.find(&before)?;
        let new = self.measure(session, old)?;
        let lines = changes(old, &new);
        let is_older = lock::compare_versions(&new.version, &old.version) == Ordering::Less;
        if is_older && !self.downgrade && !self.dry_run {
            let what = format!("{} {} is older than {}", new.name, new.version, old.version);
            return Err(Usage::new(what, "--downgrade takes it").into());
        }
        let is_changed = !lines.is_empty();
        let text_lines = match is_changed {
            true => format!("{} {} -> {}\n{}", old.name, old.version, new.version, lines.join("\n")),
            false => format!("{} {} is current", old.name, old.version),
        };
        let value = json!({
            "package": old.name, "from": old.version, "to": new.version,
            "changed": is_changed, "written": is_changed && !self.dry_run, "changes": lines,
        });
        session.ui.data(&text_lines, &value);
        if is_changed && !self.dry_run {
            let changed = lock::upsert_package(&text, &new).context("failed to edit the lock")?;
            lock::parse(&path, &changed)?;
            files::write_whole(&path, changed.as_bytes())?;
        }
        Ok(())
    }

    fn find<'l>(&self, lock: &'l lock::Lock) -> anyhow::Result<&'l Package> {
        let host = self
            .host
            .as_ref()
            .map(|triple| Host::from_triple(triple).ok_or_else(|| Usage::unknown_host(triple)));
        let host = host.transpose()?;
        let named: Vec<&Package> = lock
            .packages
            .iter()
            .filter(|package| package.name == self.name && (host.is_none() || package.host == host))
            .collect();
        match named.as_slice() {
            [package] => Ok(package),
            [] => {
                let known = lock.packages.iter().map(|package| package.name.as_str());
                let mend = gfx::nearest(&self.name, known).map_or_else(
                    || "`cargo xtask lock show` lists the packages".to_owned(),
                    |name| format!("did you mean `{name}`?"),
                );
                Err(Usage::new(format!("the lock has no package `{}`", self.name), mend).into())
            }
            several => {
                let hosts: Vec<&str> = several.iter().filter_map(|p| p.host).map(Host::triple).collect();
                let what = format!("the lock has `{}` for several hosts", self.name);
                Err(Usage::new(what, format!("name one with --host: {}", hosts.join(", "))).into())
            }
        }
    }

    fn measure(&self, session: &Session, old: &Package) -> anyhow::Result<Package> {
        let context = session.fetching(&From::default());
        let mut new = Package { sources: Vec::new(), ..old.clone() };
        // Registries first: they tell which version is the newest, and addresses need to know.
        let mut sources: Vec<&Source> = old.sources.iter().collect();
        sources.sort_by_key(|source| source.channel == Channel::Url);
        let mut version = self.to.clone();
        for source in &sources {
            let folder = tempfile::tempdir()?;
            let mut archives = Vec::new();
            for archive in &source.archives {
                let wanted = wanted(source.channel, archive, &old.version, version.as_deref());
                session.ui.phase("measure", &wanted.label());
                let by = "xtask lock update";
                archives.push(measure::archive(source.channel, wanted, folder.path(), by, &context)?);
            }
            let found = archives.first().map(|archive| archive.version.as_str()).unwrap_or_default();
            let was = source.archives.first().map(|archive| archive.version.as_str()).unwrap_or_default();
            version = version.or_else(|| package_version(&old.version, was, found));
            let mut alone = Package {
                version: version.clone().unwrap_or_else(|| old.version.clone()),
                sources: vec![Source { channel: source.channel, archives, tree: None }],
                ..old.clone()
            };
            alone.sources[0].tree = Some(measure::tree(&alone, folder.path(), session)?);
            new.sources.append(&mut alone.sources);
        }
        new.version = version.unwrap_or_else(|| old.version.clone());
        // In the order of the lock again.
        let place = |source: &Source| old.sources.iter().position(|old| old.channel == source.channel);
        new.sources.sort_by_key(place);
        Ok(new)
    }
}

/// What to ask for: the version that was named, or the newest.
fn wanted(channel: Channel, old: &Archive, old_version: &str, version: Option<&str>) -> Archive {
    let mut wanted = old.clone();
    match (channel, version) {
        (Channel::Url, Some(version)) => {
            wanted.url = old.url.replace(old_version, version);
            wanted.file = old.file.replace(old_version, version);
        }
        (Channel::Url, None) => {}
        (Channel::Pip, version) => wanted.version = version.unwrap_or_default().to_owned(),
        // A Debian version has a revision that only the mirror knows.
        (Channel::Deb, _) => wanted.version = String::new(),
    }
    wanted
}

/// The version of a package whose first archive went from `was` to `found`: the archive's own, or without Debian's epoch and revision, as before.
fn package_version(package: &str, was: &str, found: &str) -> Option<String> {
    [str::to_owned as fn(&str) -> String, upstream]
        .into_iter()
        .find(|shown| shown(was) == package)
        .map(|shown| shown(found))
        .filter(|version| !version.is_empty())
}

/// `1:22.1.8-1~deb12u1` is 22.1.8 (Debian policy 5.6.12).
fn upstream(version: &str) -> String {
    let version = version.split_once(':').map_or(version, |(_, rest)| rest);
    version.rsplit_once('-').map_or(version, |(upstream, _)| upstream).to_owned()
}

/// The address, or the file where the address is a registry's.
fn shown(archive: &Archive) -> String {
    if archive.url.is_empty() { archive.file.clone() } else { archive.label() }
}

/// One line for each archive and tree that is another one.
fn changes(old: &Package, new: &Package) -> Vec<String> {
    let mut lines = Vec::new();
    if old.version != new.version {
        lines.push(format!("  version  {} -> {}", old.version, new.version));
    }
    for (old, new) in old.sources.iter().zip(&new.sources) {
        for (old, new) in old.archives.iter().zip(&new.archives) {
            if old.sha256 != new.sha256 || old.file != new.file || old.version != new.version {
                let size = |archive: &Archive| archive.size.map_or("unknown size".into(), human_bytes);
                lines.push(format!("  - {}  {}  {}", old.sha256.short(), size(old), shown(old)));
                lines.push(format!("  + {}  {}  {}", new.sha256.short(), size(new), shown(new)));
            }
        }
        let facts = |tree: &Option<TreeFacts>| match tree {
            None => "not measured".into(),
            // An entry of before the longest path was measured is worth writing again.
            Some(TreeFacts { files, bytes, longest, .. }) => {
                let longest = longest.map_or("unknown".into(), |longest| longest.to_string());
                format!("{files} files, {}, longest path {longest}", human_bytes(*bytes))
            }
        };
        if old.tree != new.tree {
            lines.push(format!("  tree from {}  {} -> {}", old.channel, facts(&old.tree), facts(&new.tree)));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_version_follows_the_archives() {
        for (package, was, found, expected) in [
            ("1.13.2", "1.13.2", "1.13.3", Some("1.13.3")),
            ("22.1.8", "1:22.1.8-1~deb12u1", "1:22.1.9-2~deb12u1", Some("22.1.9")),
            ("5.7.1", "5.7.1-6+deb13u1", "6.0-rc1-2", Some("6.0-rc1")),
            ("own words", "1.0", "1.1", None),
            ("10.0.0", "", "", None),
        ] {
            assert_eq!(package_version(package, was, found).as_deref(), expected, "{package}");
        }
    }
}
