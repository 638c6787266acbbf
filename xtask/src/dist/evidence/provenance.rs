//! Provenance as an in-toto statement v1 with a SLSA v1 predicate: what was made from what, by which builder.

use super::pretty;
use crate::digest::Sha256;
use crate::dist::ReleaseManifest;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The file's name, beside the archives.
pub(crate) const PROVENANCE_FILE: &str = "provenance.intoto.json";

/// Where the sources are from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Source {
    /// The commit that is checked out, in hex; `None`: no git repository.
    pub(crate) revision: Option<String>,
    /// Files differ from that commit.
    pub(crate) is_dirty: bool,
    /// Who builds, as an URI: STRATA_BUILDER_ID, else this tool.
    pub(crate) builder: String,
}

/// The statement for `archives` (name and digest, sorted), which were made from `releases`. It holds no time and no name of a machine: those a build
/// service attests.
pub(crate) fn provenance(
    archives: &[(String, Sha256)],
    releases: &[&ReleaseManifest],
    source: &Source,
) -> Vec<u8> {
    let subjects: Vec<Value> =
        archives.iter().map(|(name, digest)| json!({"name": name, "digest": {"sha256": digest}})).collect();
    let builds = || releases.iter().flat_map(|release| &release.components);
    let mut dependencies: BTreeMap<String, Value> = BTreeMap::new();
    if let Some(revision) = &source.revision {
        let mut git = json!({"name": "source", "digest": {"gitCommit": revision}});
        if source.is_dirty {
            git["annotations"] = json!({"uncommitted_changes": true});
        }
        dependencies.insert("0 source".into(), git);
    }
    for build in builds() {
        dependencies
            .insert("1 lock".into(), json!({"name": "toolchains.lock", "digest": {"sha256": build.lock}}));
        let toolchain = &build.toolchain;
        let name = format!("toolchain {}", toolchain.name);
        dependencies.insert(
            format!("2 {name} {}", build.host),
            json!({"name": name, "digest": {"sha256": toolchain.digest}, "annotations": {"host": build.host, "compiler": build.compiler}}),
        );
        for package in &toolchain.packages {
            let name = format!("{} {}", package.name, package.version);
            let value = json!({"name": name, "digest": {"sha256": package.key}});
            dependencies.insert(format!("3 {name} {}", package.key), value);
        }
        for (input, digest) in build.inputs.0.iter().filter(|(input, _)| input.ends_with("sources")) {
            let name = format!("{}: {input}", build.component);
            dependencies.insert(format!("4 {name}"), json!({"name": name, "digest": {"sha256": digest}}));
        }
    }
    let mut targets: Vec<&str> = builds().map(|build| build.target.as_str()).collect();
    let mut hosts: Vec<&str> = releases.iter().map(|release| release.host.as_str()).collect();
    for list in [&mut targets, &mut hosts] {
        list.sort_unstable();
        list.dedup();
    }
    pretty(&json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:strata:xtask-release:v1",
                "externalParameters": {"command": "cargo xtask release", "targets": targets, "hosts": hosts},
                "internalParameters": {},
                "resolvedDependencies": dependencies.into_values().collect::<Vec<_>>(),
            },
            "runDetails": {
                "builder": {"id": source.builder, "version": {"xtask": env!("CARGO_PKG_VERSION")}},
            },
        },
    }))
}
