//! The SBOM as SPDX 2.3 JSON (spdx.github.io/spdx-spec/v2.3).

use super::subject::{Package, Subject};
use super::{Crate, pretty, rfc3339};
use crate::dist::member::{Member, hex};
use serde_json::{Value, json};
use sha1::Digest;

const ROOT: &str = "SPDXRef-Package-strata";

/// The document: the release as a package whose files are analysed, and what was linked or compiled into them or made them.
pub(crate) fn spdx(subject: &Subject) -> Vec<u8> {
    let mut packages = vec![root(subject)];
    let mut relationships = vec![relation("SPDXRef-DOCUMENT", "DESCRIBES", ROOT)];
    for own in subject.crates {
        packages.push(of_crate(own));
        relationships.push(relation(ROOT, "DEPENDS_ON", &crate_id(own)));
    }
    for package in &subject.packages {
        packages.push(of_package(package));
        relationships.push(match package.is_part {
            true => relation(ROOT, "DEPENDS_ON", &package_id(package)),
            false => relation(&package_id(package), "BUILD_TOOL_OF", ROOT),
        });
    }
    let files: Vec<Value> = subject.members.iter().enumerate().map(of_file).collect();
    relationships.extend((0..files.len()).map(|index| relation(ROOT, "CONTAINS", &file_id(index))));
    pretty(&json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": subject.name,
        "documentNamespace": format!("urn:uuid:{}", subject.uuid()),
        "creationInfo": {
            "created": rfc3339(subject.time),
            "creators": [format!("Tool: xtask-{}", env!("CARGO_PKG_VERSION"))],
        },
        "packages": packages,
        "files": files,
        "relationships": relationships,
    }))
}

fn root(subject: &Subject) -> Value {
    json!({
        "SPDXID": ROOT,
        "name": "strata",
        "versionInfo": subject.version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": true,
        "packageVerificationCode": {"packageVerificationCodeValue": verification_code(subject.members)},
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "MIT",
        "licenseInfoFromFiles": ["NOASSERTION"],
        "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": "APPLICATION",
    })
}

/// SHA-1 over the sorted SHA-1s of all files (7.9 of the specification).
fn verification_code(members: &[Member]) -> String {
    let mut sums: Vec<&str> = members.iter().map(|member| member.digests.sha1.as_str()).collect();
    sums.sort_unstable();
    hex(&sha1::Sha1::digest(sums.concat()))
}

fn of_crate(own: &Crate) -> Value {
    let checksums: Vec<Value> =
        own.checksum.iter().map(|sum| json!({"algorithm": "SHA256", "checksumValue": sum})).collect();
    json!({
        "SPDXID": crate_id(own),
        "name": own.name,
        "versionInfo": own.version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": false,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": own.expression().unwrap_or_else(|| "NOASSERTION".into()),
        "copyrightText": "NOASSERTION",
        "checksums": checksums,
        "externalRefs": [purl(&own.purl())],
    })
}

fn of_package(package: &Package) -> Value {
    json!({
        "SPDXID": package_id(package),
        "name": package.name,
        "versionInfo": package.version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": false,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": package.license.clone().unwrap_or_else(|| "NOASSERTION".into()),
        "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": package.key}],
        "externalRefs": [purl(&package.purl())],
    })
}

fn of_file((index, member): (usize, &Member)) -> Value {
    json!({
        "SPDXID": file_id(index),
        "fileName": format!("./{}", member.path),
        "checksums": [
            {"algorithm": "SHA1", "checksumValue": member.digests.sha1},
            {"algorithm": "SHA256", "checksumValue": member.digests.sha256},
        ],
        "licenseConcluded": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "comment": format!("from {}", member.origin),
    })
}

fn relation(from: &str, kind: &str, to: &str) -> Value {
    json!({"spdxElementId": from, "relationshipType": kind, "relatedSpdxElement": to})
}

fn purl(purl: &str) -> Value {
    json!({"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl})
}

fn crate_id(own: &Crate) -> String {
    id("Crate", &format!("{}-{}", own.name, own.version))
}

fn package_id(package: &Package) -> String {
    id("Toolchain", &format!("{}-{}", package.name, package.version))
}

fn file_id(index: usize) -> String {
    format!("SPDXRef-File-{index}")
}

/// Letters, digits, `.` and `-` are all that an SPDXID may have; `_` and others are told apart by their number.
fn id(kind: &str, name: &str) -> String {
    let safe = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '.' || c == '-' => c.to_string(),
        c => format!(".{:x}.", u32::from(c)),
    };
    format!("SPDXRef-{kind}-{}", name.chars().map(safe).collect::<String>())
}
