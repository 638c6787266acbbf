//! Installations of Visual Studio, as vswhere lists them; as folders, where there is no vswhere.

use super::{Candidate, ClangHeaders, Refusal, toolset};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// One installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// `Visual Studio Build Tools 2022`
    pub(crate) name: String,
    /// `17.14.36414.22`; empty where only the folder is known.
    pub(crate) version: String,
    /// Where it lies.
    pub(crate) path: PathBuf,
    /// From a preview channel.
    pub(crate) is_preview: bool,
    /// Whether its installer has ended well.
    pub(crate) is_complete: bool,
}

impl Instance {
    /// Its name and its version, as far as that is known.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.name, self.version).trim_end().to_owned()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    installation_path: PathBuf,
    #[serde(default)]
    installation_version: String,
    #[serde(default)]
    display_name: String,
    #[serde(default)]
    is_prerelease: bool,
    #[serde(default = "yes")]
    is_complete: bool,
}

fn yes() -> bool {
    true
}

/// What `vswhere -products * -prerelease -format json -utf8` prints. An entry without a path is none.
pub(super) fn listed(json: &str) -> Result<Vec<Instance>, serde_json::Error> {
    let entries: Vec<serde_json::Value> = serde_json::from_str(json.trim_start_matches('\u{feff}'))?;
    let entry = |value| {
        let listed: Listed = serde_json::from_value(value).ok()?;
        Some(Instance {
            name: Some(listed.display_name).filter(|name| !name.is_empty()).unwrap_or("Visual Studio".into()),
            version: listed.installation_version,
            path: listed.installation_path,
            is_preview: listed.is_prerelease,
            is_complete: listed.is_complete,
        })
    };
    Ok(entries.into_iter().filter_map(entry).collect())
}

/// Installations in the usual folders below `Program Files`: `Microsoft Visual Studio/<release>/<edition>`.
pub(super) fn in_folders(program_files: &[PathBuf]) -> Vec<Instance> {
    let children = |folder: &Path| -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        found.sort();
        found
    };
    let releases = program_files.iter().flat_map(|folder| children(&folder.join("Microsoft Visual Studio")));
    let editions = releases.flat_map(|release| children(&release));
    editions.filter(|path| path.join("VC/Auxiliary/Build").is_dir()).map(at).collect()
}

/// An installation of which only the place is known.
pub(super) fn at(path: PathBuf) -> Instance {
    let shown = |part: Option<&Path>| {
        part.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let (edition, release) = (shown(Some(&path)), shown(path.parent()));
    Instance {
        is_preview: edition.eq_ignore_ascii_case("preview") || edition.eq_ignore_ascii_case("insiders"),
        name: format!("Visual Studio {release} {edition}").trim_end().to_owned(),
        version: String::new(),
        path,
        is_complete: true,
    }
}

/// What is thought of an installation. `tools` names the folder of compilers that this machine can start: `Hostx64`, or `Hostarm64` first.
pub(super) fn judge(
    instance: Instance,
    clang: ClangHeaders,
    allow_previews: bool,
    is_arm64: bool,
) -> Candidate {
    let verdict = match () {
        () if !instance.is_complete => Err(Refusal::Incomplete),
        () if instance.is_preview && !allow_previews => Err(Refusal::Preview),
        () => toolset::choose(&instance.path, clang, is_arm64),
    };
    Candidate { instance, verdict }
}
