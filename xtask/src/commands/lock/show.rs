//! `cargo xtask lock show`

use super::Session;
use crate::ui::human_bytes;
use serde_json::json;

/// Prints the toolchains and packages of the lock.
pub(super) fn show(session: &Session) -> anyhow::Result<()> {
    let lock = session.lock()?;
    let mut lines = Vec::new();
    for toolchain in &lock.toolchains {
        let targets = toolchain.targets.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        lines.push(format!("toolchain {} on {} (ROCm {})", toolchain.name, toolchain.host, toolchain.rocm));
        lines.push(format!("  packages  {}", toolchain.packages.join(" ")));
        lines.push(format!("  targets   {targets}"));
    }
    for package in &lock.packages {
        let host = package.host.map(|host| format!(" on {host}")).unwrap_or_default();
        lines.push(format!("package {} {}{host} ({})", package.name, package.version, package.license));
        for archive in package.sources.iter().flat_map(|source| &source.archives) {
            let size = archive.size.map_or("unknown size".into(), human_bytes);
            lines.push(format!("  {} {size:>12}  {}", archive.sha256.short(), archive.label()));
        }
    }
    let value = json!({
        "digest": lock.digest,
        "toolchains": lock.toolchains.iter().map(|t| json!({"name": t.name, "host": t.host.triple(), "packages": t.packages})).collect::<Vec<_>>(),
        "packages": lock.packages.iter().map(|p| json!({"name": p.name, "version": p.version})).collect::<Vec<_>>(),
    });
    session.ui.data(&lines.join("\n"), &value);
    Ok(())
}
