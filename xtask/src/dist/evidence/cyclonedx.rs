//! The SBOM as CycloneDX 1.6 JSON (cyclonedx.org/docs/1.6/json).

use super::notice::is_library;
use super::subject::{Package, Subject};
use super::{Crate, pretty, rfc3339};
use crate::dist::member::{Member, Origin};
use serde_json::{Value, json};

const ROOT: &str = "strata";

/// The document. Its serial number comes from the content, so the same release has the same one.
pub(crate) fn cyclonedx(subject: &Subject) -> Vec<u8> {
    let mut components: Vec<Value> = subject.crates.iter().map(of_crate).collect();
    components.extend(subject.packages.iter().map(of_package));
    components.extend(subject.members.iter().map(of_file));
    let crates = subject.crates.iter().map(Crate::purl);
    let packages = subject.packages.iter().filter(|package| package.is_part).map(Package::purl);
    let depends_on: Vec<String> = crates.chain(packages).collect();
    pretty(&json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": format!("urn:uuid:{}", subject.uuid()),
        "version": 1,
        "metadata": {
            "timestamp": rfc3339(subject.time),
            "tools": {"components": [{"type": "application", "name": "xtask", "version": env!("CARGO_PKG_VERSION")}]},
            "component": {
                "type": "application",
                "bom-ref": ROOT,
                "name": subject.name,
                "version": subject.version,
                "licenses": [{"license": {"id": "MIT"}}],
            },
        },
        "components": components,
        "dependencies": [{"ref": ROOT, "dependsOn": depends_on}],
    }))
}

fn of_crate(own: &Crate) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": own.purl(),
        "name": own.name,
        "version": own.version,
        "purl": own.purl(),
    });
    if let Some(expression) = own.expression() {
        component["licenses"] = json!([{"expression": expression}]);
    }
    if let Some(checksum) = &own.checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

/// A tool is `excluded`: it made the release and is not in it.
fn of_package(package: &Package) -> Value {
    let mut component = json!({
        "type": if package.is_part { "library" } else { "application" },
        "bom-ref": package.purl(),
        "name": package.name,
        "version": package.version,
        "purl": package.purl(),
        "scope": if package.is_part { "required" } else { "excluded" },
        "hashes": [{"alg": "SHA-256", "content": package.key}],
    });
    if let Some(license) = &package.license {
        component["licenses"] = json!([{"expression": license}]);
    }
    component
}

/// Every library that is not ours is a component of its own with a version; the rest are files.
fn of_file(member: &Member) -> Value {
    let mut component = json!({
        "type": "file",
        "bom-ref": format!("file:{}", member.path),
        "name": member.path,
        "hashes": [
            {"alg": "SHA-1", "content": member.digests.sha1},
            {"alg": "SHA-256", "content": member.digests.sha256},
        ],
        "properties": [{"name": "strata:origin", "value": member.origin.to_string()}],
    });
    if let (true, Origin::Package(_, version)) = (is_library(&member.path), &member.origin) {
        component["type"] = "library".into();
        component["version"] = version.clone().into();
    }
    component
}
