//! Manifests for Windows' package managers, which point at a zip by address and hash: scoop's JSON and winget's three YAML files.

use super::pretty;
use crate::digest::Sha256;
use serde_json::json;

/// A zip that can be downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Download {
    /// The release's name, which is also the folder in the zip.
    pub(crate) name: String,
    /// The workspace's version.
    pub(crate) version: String,
    /// `gfx1201`, or `bundle`.
    pub(crate) variant: String,
    /// Where the zip will be.
    pub(crate) url: String,
    /// Of the zip.
    pub(crate) sha256: Sha256,
    /// The programs in the release's root.
    pub(crate) programs: Vec<String>,
}

const DESCRIPTION: &str = "Strata inference engine for AMD Radeon GPUs";

/// `scoop/strata-<variant>.json` and its text.
pub(crate) fn scoop(download: &Download) -> (String, Vec<u8>) {
    let manifest = json!({
        "version": download.version,
        "description": format!("{DESCRIPTION} ({})", download.variant),
        "homepage": homepage(&download.url),
        "license": "MIT",
        "architecture": {"64bit": {
            "url": download.url,
            "hash": download.sha256,
            "extract_dir": download.name,
        }},
        "bin": download.programs,
    });
    (format!("scoop/strata-{}.json", download.variant), pretty(&manifest))
}

/// The files of winget's `manifests/s/Strata/Strata/…`, each with its text (schema 1.6.0).
pub(crate) fn winget(download: &Download) -> Vec<(String, Vec<u8>)> {
    let id = format!("Strata.Strata.{}", download.variant);
    let head = |kind: &str| {
        format!(
            "PackageIdentifier: {id}\nPackageVersion: {}\nManifestType: {kind}\nManifestVersion: 1.6.0\n",
            download.version
        )
    };
    let nested: String = download
        .programs
        .iter()
        .map(|program| {
            let alias = program.trim_end_matches(".exe");
            format!("- RelativeFilePath: {}\\{program}\n  PortableCommandAlias: {alias}\n", download.name)
        })
        .collect();
    let installer = format!(
        "InstallerType: zip\nNestedInstallerType: portable\nNestedInstallerFiles:\n{nested}Installers:\n- Architecture: x64\n  InstallerUrl: {}\n  InstallerSha256: {}\n",
        download.url,
        download.sha256.to_string().to_uppercase()
    );
    let locale = format!(
        "PackageLocale: en-US\nPublisher: Strata\nPackageName: Strata ({})\nLicense: MIT\nShortDescription: {DESCRIPTION}\n",
        download.variant
    );
    let file = |middle: &str, text: String| (format!("winget/{id}{middle}.yaml"), text.into_bytes());
    vec![
        file("", format!("{}DefaultLocale: en-US\n", head("version"))),
        file(".installer", format!("{}{installer}", head("installer"))),
        file(".locale.en-US", format!("{}{locale}", head("defaultLocale"))),
    ]
}

/// Scheme and host of an address, with the first two parts of its path: where a forge keeps the project.
fn homepage(url: &str) -> String {
    let parts: Vec<&str> = url.splitn(6, '/').collect();
    parts.iter().take(5).copied().collect::<Vec<_>>().join("/")
}
