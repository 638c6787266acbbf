//! What goes into the release of one target: a list that is made before a byte is written.

use super::{Error, ReleaseManifest, Sums};
use crate::build::{Artifacts, BuildManifest};
use crate::digest::Sha256;
use crate::files::Named;
use gfx::Target;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One release.
#[derive(Debug, Clone)]
pub(crate) struct Bundle {
    /// `strata-<version>-<host>-<gfx>`: the zip's name without ending, and the folder in it.
    pub(crate) name: String,
    /// Sorted by path.
    pub(crate) members: Vec<Member>,
}

/// One file of a release.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Below the release's folder, with `/`.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) content: Vec<u8>,
    /// Whether it is a program.
    pub(crate) executable: bool,
}

/// What a release is made from.
pub(crate) struct Parts<'a> {
    /// `<version>` of the workspace.
    pub(crate) version: &'a str,
    /// The triple.
    pub(crate) host: &'a str,
    /// The target.
    pub(crate) target: Target,
    /// Component names.
    pub(crate) components: Vec<&'a str>,
    /// `artifacts/`
    pub(crate) artifacts: &'a Path,
    /// Path in the release and text of each licence.
    pub(crate) licences: &'a [(String, Vec<u8>)],
    /// The README that users get.
    pub(crate) readme: String,
}

/// Collects the release of one target; every output is compared with its BUILD.json.
pub(crate) fn plan_bundle(parts: &Parts) -> Result<Bundle, Error> {
    let mut members: BTreeMap<String, (String, Member)> = BTreeMap::new();
    let mut manifests = Vec::new();
    for component in &parts.components {
        let folder =
            parts.artifacts.join(parts.version).join(parts.host).join(component).join(parts.target.name());
        let Some(manifest) = Artifacts::manifest(&folder) else {
            let path = folder.join(crate::build::MANIFEST_FILE);
            return Err(Error::NotBuilt { component: component.to_string(), target: parts.target, path });
        };
        for member in outputs(&folder, &manifest)? {
            let path = member.path.clone();
            if let Some((first, _)) = members.insert(path.clone(), (component.to_string(), member)) {
                return Err(Error::Collision { path, first, second: component.to_string() });
            }
        }
        manifests.push(manifest);
    }
    agree(&manifests)?;
    let mut members: Vec<Member> = members.into_values().map(|(_, member)| member).collect();
    let text = |path: &str, content: Vec<u8>| Member { path: path.to_owned(), content, executable: false };
    members.extend(parts.licences.iter().map(|(path, content)| text(path, content.clone())));
    members.push(text("README.txt", parts.readme.clone().into_bytes()));
    let release = ReleaseManifest::new(parts.version, parts.host, parts.target, manifests);
    members.push(text(crate::build::MANIFEST_FILE, release.to_json()));
    members.sort_by(|a, b| a.path.cmp(&b.path));
    let sums = Sums::new(members.iter().map(|member| (member.path.clone(), Sha256::of(&member.content))));
    members.push(text(super::SUMS_FILE, sums.to_string().into_bytes()));
    members.sort_by(|a, b| a.path.cmp(&b.path));
    let name = format!("strata-{}-{}-{}", parts.version, parts.host, parts.target);
    Ok(Bundle { name, members })
}

fn outputs(folder: &Path, manifest: &BuildManifest) -> Result<Vec<Member>, Error> {
    let read = |output: &crate::build::Output| {
        let path: PathBuf = folder.join(&output.path);
        let content = std::fs::read(&path).named("read", &path)?;
        let actual = Sha256::of(&content);
        match actual == output.sha256 {
            true => Ok(Member { path: output.path.clone(), content, executable: output.executable }),
            false => Err(Error::Changed { path, expected: output.sha256, actual }),
        }
    };
    manifest.outputs.iter().map(read).collect()
}

/// One release comes from one lock and one toolchain.
fn agree(manifests: &[BuildManifest]) -> Result<(), Error> {
    for pair in manifests.windows(2) {
        let checks = [
            ("lock", pair[0].lock == pair[1].lock),
            ("toolchain", pair[0].toolchain.digest == pair[1].toolchain.digest),
            ("compiler", pair[0].compiler == pair[1].compiler),
        ];
        if let Some((what, _)) = checks.into_iter().find(|(_, same)| !same) {
            let (first, second) = (pair[0].component.clone(), pair[1].component.clone());
            return Err(Error::Mixed { first, second, what });
        }
    }
    Ok(())
}

impl Bundle {
    /// The bytes of all members.
    pub(crate) fn bytes(&self) -> u64 {
        self.members.iter().map(|member| member.content.len() as u64).sum()
    }
}
