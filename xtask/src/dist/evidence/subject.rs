//! What the SBOMs are about: the same facts for both forms.

use super::Crate;
use crate::digest::{Hasher, Sha256};
use crate::dist::member::{Member, Origin};
use crate::dist::{Parts, ReleaseManifest};
use archive::Timestamp;
use std::collections::BTreeMap;

/// A release, described.
pub(crate) struct Subject<'a> {
    /// The release's name.
    pub(crate) name: &'a str,
    /// The workspace's version.
    pub(crate) version: &'a str,
    /// The one time.
    pub(crate) time: Timestamp,
    /// Every file but the SBOMs and the lists of hashes, sorted by path.
    pub(crate) members: &'a [Member],
    /// Linked into the programs, sorted.
    pub(crate) crates: &'a [Crate],
    /// Of the toolchain, sorted.
    pub(crate) packages: Vec<Package>,
    /// Over the content: what the same release has again and no other has.
    pub(crate) digest: Sha256,
}

/// A package of the toolchain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Package {
    /// The lock's name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// SPDX expression from the lock.
    pub(crate) license: Option<String>,
    /// Its key in the store: the digest of what was downloaded.
    pub(crate) key: Sha256,
    /// Whether files of it are in the release, or its headers compiled into them; else it is a tool.
    pub(crate) is_part: bool,
}

impl<'a> Subject<'a> {
    /// Describes the release of `parts`.
    pub(crate) fn new(
        name: &'a str,
        parts: &'a Parts,
        manifest: &ReleaseManifest,
        members: &'a [Member],
    ) -> Self {
        let licences: BTreeMap<&str, &str> =
            parts.package_licences.iter().map(|(name, license)| (name.as_str(), license.as_str())).collect();
        let is_shipped = |name: &str| {
            members.iter().any(|member| matches!(&member.origin, Origin::Package(own, _) if own == name))
        };
        let compiled_in = |name: &str| {
            parts.licences.iter().any(|(path, _)| path.starts_with(&format!("licenses/{name}/")))
        };
        let records = manifest.components.iter().flat_map(|component| &component.toolchain.packages);
        let mut packages: Vec<Package> = records
            .map(|record| Package {
                name: record.name.clone(),
                version: record.version.clone(),
                license: licences.get(record.name.as_str()).map(|license| (*license).to_owned()),
                key: record.key,
                is_part: is_shipped(&record.name) || compiled_in(&record.name),
            })
            .collect();
        packages.sort();
        packages.dedup();
        let mut hasher = Hasher::new();
        hasher.field(name);
        for member in members {
            hasher.field(&member.path);
            hasher.field(&member.digests.sha256.to_string());
        }
        for own in parts.crates {
            hasher.field(&format!("{} {}", own.name, own.version));
        }
        let digest = hasher.finish().0;
        Self {
            name,
            version: parts.version,
            time: parts.time,
            members,
            crates: parts.crates,
            packages,
            digest,
        }
    }

    /// The digest in the form of a UUID of version 8 (RFC 9562, 5.8: bits of one's own).
    pub(crate) fn uuid(&self) -> String {
        let hex = self.digest.to_string();
        let variant = u8::from_str_radix(&hex[16..17], 16).unwrap_or(0) & 0x3 | 0x8;
        format!(
            "{}-{}-8{}-{variant:x}{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[13..16],
            &hex[17..20],
            &hex[20..32]
        )
    }
}

impl Crate {
    /// `pkg:cargo/name@version` (package-url.github.io).
    pub(crate) fn purl(&self) -> String {
        // `+` of a build version is written as it must be in a version.
        format!("pkg:cargo/{}@{}", self.name, self.version.replace('+', "%2B"))
    }

    /// The licence as an SPDX expression; old crates write `MIT/Apache-2.0`.
    pub(crate) fn expression(&self) -> Option<String> {
        self.license.as_ref().map(|license| license.replace('/', " OR "))
    }
}

impl Package {
    /// `pkg:generic/name@version`
    pub(crate) fn purl(&self) -> String {
        format!("pkg:generic/{}@{}", self.name, self.version.replace('+', "%2B").replace(':', "%3A"))
    }
}
