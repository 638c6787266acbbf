//! What goes into a release: a list that is made, hashed and compared before a byte is written.

use super::evidence::{self, Crate, Subject};
use super::member::{Draft, Member, finish_all};
use super::publish::SBOM_FILES;
use super::rocm::{Count, RocmTree, library_folder, place_below_rocm};
use super::{Error, ReleaseManifest, SUMS_FILE, Sums, authenticode, outputs, readme, runtime};
use crate::build::{Component, MANIFEST_FILE};
use crate::lock::Host;
use archive::Timestamp;
use gfx::Target;
use std::path::Path;

/// One release.
#[derive(Debug, Clone)]
pub(crate) struct Bundle {
    /// `strata-<version>-<host>-<gfx>`, or `…-bundle` for several targets: the archive's name without ending, and the folder in it.
    pub(crate) name: String,
    /// Sorted by path.
    pub(crate) members: Vec<Member>,
    /// What it was built from.
    pub(crate) manifest: ReleaseManifest,
    /// The two SBOMs, which are members too: name and text.
    pub(crate) sboms: Vec<(String, Vec<u8>)>,
    /// Kernel folder of the dist, and how many of its files went where.
    pub(crate) counts: Vec<(String, Count)>,
}

/// What a release is made from.
pub(crate) struct Parts<'a> {
    /// `<version>` of the workspace.
    pub(crate) version: &'a str,
    /// What runs it.
    pub(crate) host: Host,
    /// One, or several for a bundle.
    pub(crate) targets: Vec<Target>,
    /// Whether it is a bundle for several targets.
    pub(crate) is_bundle: bool,
    /// All that the workspace has.
    pub(crate) components: Vec<&'a Component>,
    /// `artifacts/`
    pub(crate) artifacts: &'a Path,
    /// The toolchain's ROCm libraries; `None`: it has none.
    pub(crate) rocm: Option<&'a RocmTree>,
    /// The folder of the Visual C++ redistributable, when somebody has named one.
    pub(crate) redistributable: Option<&'a Path>,
    /// Path in the release and text of each licence.
    pub(crate) licences: &'a [(String, Vec<u8>)],
    /// What is linked into the programs.
    pub(crate) crates: &'a [Crate],
    /// Licence by package of the toolchain, from the lock.
    pub(crate) package_licences: &'a [(String, String)],
    /// The one time that everything has.
    pub(crate) time: Timestamp,
    /// Signs programs before they are hashed.
    pub(crate) authenticode: Option<&'a authenticode::Signer>,
}

/// Collects a release. Every output is compared with its BUILD.json, every file of the toolchain with the store's manifest.
pub(crate) fn plan_bundle(parts: &Parts) -> Result<Bundle, Error> {
    let outputs = outputs::collect(parts)?;
    let runtime = runtime::collect(parts, &outputs.drafts)?;
    let mut drafts = outputs.drafts;
    if let Some(signer) = parts.authenticode {
        drafts = signer.sign_all(drafts)?;
    }
    let of_rocblas = runtime.drafts.iter().filter(|draft| draft.path.contains("/rocblas/"));
    let deepest = of_rocblas.map(|draft| draft.path.len()).max().unwrap_or(0);
    drafts.push(Draft::text("README.txt", readme::text(parts, &runtime, deepest).into_bytes()));
    let has_libraries = runtime.drafts.iter().any(|draft| draft.path.starts_with("rocm/"));
    let lib_dirs = has_libraries.then(|| place_below_rocm(library_folder(parts.host))).into_iter().collect();
    drafts.extend(runtime.drafts);
    drafts.extend(parts.licences.iter().map(|(path, text)| Draft::text(path, text.clone())));
    let of_crates = evidence::crate_licences(parts.crates);
    drafts.extend(of_crates.map(|text| Draft::text("licenses/rust-crates.txt", text.into_bytes())));
    let manifest =
        ReleaseManifest::new(parts, runtime.loaded, runtime.of_driver, lib_dirs, outputs.manifests);
    drafts.push(Draft::text(MANIFEST_FILE, manifest.to_json()));
    let mut members = finish_all(drafts)?;
    members.push(finish(Draft::text("NOTICE.txt", evidence::notice(&members, parts).into_bytes()))?);
    let name = name_of(parts);
    let subject = Subject::new(&name, parts, &manifest, &members);
    let texts = [evidence::spdx(&subject), evidence::cyclonedx(&subject)];
    let sboms: Vec<(String, Vec<u8>)> = SBOM_FILES.map(str::to_owned).into_iter().zip(texts).collect();
    for (path, text) in &sboms {
        members.push(finish(Draft::text(path, text.clone()))?);
    }
    members.sort_by(|a, b| a.path.cmp(&b.path));
    members.push(finish(Draft::text(evidence::FILES_FILE, evidence::file_list(&members)))?);
    let sums = Sums::new(members.iter().map(|member| (member.path.clone(), member.digests.sha256)));
    members.push(finish(Draft::text(SUMS_FILE, sums.to_string().into_bytes()))?);
    members.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Bundle { name, members, manifest, sboms, counts: runtime.counts })
}

fn finish(draft: Draft) -> Result<Member, Error> {
    finish_all(vec![draft]).map(|mut members| members.remove(0))
}

fn name_of(parts: &Parts) -> String {
    let last = match (parts.is_bundle, parts.targets.as_slice()) {
        (false, [only]) => only.name(),
        _ => "bundle",
    };
    format!("strata-{}-{}-{last}", parts.version, parts.host)
}

impl Bundle {
    /// The bytes of all members.
    pub(crate) fn bytes(&self) -> u64 {
        self.members.iter().map(|member| member.content.size()).sum()
    }

    /// The members as an archive has them.
    pub(crate) fn archive_members(&self) -> Vec<archive::Member> {
        let member = |member: &Member| archive::Member {
            name: format!("{}/{}", self.name, member.path),
            content: member.content.clone(),
            executable: member.executable,
        };
        self.members.iter().map(member).collect()
    }
}
