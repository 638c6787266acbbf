//! Looks at a release as its user will: unpacked somewhere else, every hash compared, started with nothing in the environment.

use super::{Error, SUMS_FILE, Sums};
use crate::build::{Artifacts, MANIFEST_FILE};
use crate::fetch::{Limits, Refusal, TreeWriter, unpack_zip};
use crate::files::{self, Named};
use crate::lock::Host;
use crate::store::{Depth, Entry, Kind, Manifest, compare_entry, compare_tree};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What was found to be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checked {
    /// `release`, `artifact`, `store entry`
    pub(crate) kind: &'static str,
    /// How many files were compared.
    pub(crate) files: usize,
    /// What could not be checked here, with the reason.
    pub(crate) skipped: Vec<String>,
}

/// Compares a folder with the hashes that lie in it.
pub(crate) fn verify_folder(folder: &Path) -> Result<Checked, Error> {
    let (kind, manifest, ignored): (_, Manifest, &[&str]) = if folder.join(SUMS_FILE).is_file() {
        ("release", manifest_of_sums(folder)?, &[SUMS_FILE])
    } else if let Some(manifest) = Artifacts::manifest(folder) {
        ("artifact", manifest.tree(), &[MANIFEST_FILE])
    } else if folder.join("receipt.json").is_file() {
        return verify_entry(folder, Depth::Deep);
    } else {
        return Err(Error::NothingToVerify { path: folder.to_owned() });
    };
    compare(kind, folder, &manifest, ignored)
}

/// Compares an entry of the store with its manifest.
pub(crate) fn verify_entry(folder: &Path, depth: Depth) -> Result<Checked, Error> {
    let (files, differences) = compare_entry(folder, depth)?;
    match differences.is_empty() {
        true => Ok(Checked { kind: "store entry", files, skipped: Vec::new() }),
        false => Err(Error::Differs {
            path: folder.to_owned(),
            differences: differences.iter().map(ToString::to_string).collect(),
        }),
    }
}

fn compare(
    kind: &'static str,
    folder: &Path,
    manifest: &Manifest,
    ignored: &[&str],
) -> Result<Checked, Error> {
    let differences = compare_tree(folder, manifest, ignored, Depth::Deep)?;
    match differences.is_empty() {
        true => Ok(Checked { kind, files: manifest.entries.len(), skipped: Vec::new() }),
        false => Err(Error::Differs {
            path: folder.to_owned(),
            differences: differences.iter().map(ToString::to_string).collect(),
        }),
    }
}

/// SHA256SUMS has no sizes, so they are taken from the disk: the digest decides.
fn manifest_of_sums(folder: &Path) -> Result<Manifest, Error> {
    let path = folder.join(SUMS_FILE);
    let sums = Sums::parse(&path, &files::read_text(&path)?)?;
    let entry = |(path, sha256): (String, _)| {
        let size = std::fs::metadata(folder.join(&path)).map_or(0, |meta| meta.len());
        Entry { path, kind: Kind::File { size, sha256, executable: false } }
    };
    Ok(Manifest::new(sums.0.into_iter().map(entry).collect()))
}

/// Compares a zip with the SHA256SUMS beside it, when there is one, and its members with the one inside.
pub(crate) fn verify_zip(zip: &Path) -> Result<Checked, Error> {
    let mut skipped = Vec::new();
    let beside = zip.with_file_name(SUMS_FILE);
    let name = zip.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let listed = match beside.is_file() {
        true => Sums::parse(&beside, &files::read_text(&beside)?)?.0.get(&name).copied(),
        false => None,
    };
    match listed {
        Some(expected) => {
            let (actual, _) = crate::digest::Sha256::of_file(zip).named("read", zip)?;
            if actual != expected {
                return Err(Error::Changed { path: zip.to_owned(), expected, actual });
            }
        }
        None => skipped.push(format!("the zip's own hash: no {SUMS_FILE} beside it names it")),
    }
    let unpacked = Unpacked::of(zip)?;
    let mut checked = verify_folder(&unpacked.folder)?;
    checked.skipped = skipped;
    Ok(checked)
}

/// Unpacks `zip` in a fresh folder, compares every hash and starts the self-test with an empty environment.
pub(crate) fn check_release(zip: &Path, host: Host) -> Result<Checked, Error> {
    let unpacked = Unpacked::of(zip)?;
    let mut checked = verify_folder(&unpacked.folder)?;
    let program = unpacked.folder.join(format!("strata-device{}", host.exe_suffix()));
    if !Host::THIS.runs(host) {
        checked.skipped.push(format!("strata-device --selftest: {host} programs do not run here"));
        return Ok(checked);
    }
    let mut command = Command::new(&program);
    command.arg("--selftest").current_dir(&unpacked.folder).env_clear();
    let output = command.output().named("start", &program)?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(0) => {}
        // 6: no HIP runtime or no GPU; everything else of the self-test has passed.
        Some(6) => {
            checked.skipped.push("strata-device --selftest on a GPU: this machine has no HIP runtime".into());
        }
        _ => {
            return Err(Error::Start {
                program: "strata-device --selftest".into(),
                status: output.status.to_string(),
                output: text,
            });
        }
    }
    Ok(checked)
}

/// A release, unpacked in a temporary folder that goes with this value.
struct Unpacked {
    folder: PathBuf,
    _temporary: tempfile::TempDir,
}

impl Unpacked {
    fn of(zip: &Path) -> Result<Self, Error> {
        let refused = |source: Refusal| Error::Unpack { path: zip.to_owned(), source };
        let temporary = tempfile::tempdir().named("create", &std::env::temp_dir())?;
        let file = std::fs::File::open(zip).named("open", zip)?;
        let mut tree = TreeWriter::new(temporary.path(), &[], Limits::GENEROUS);
        unpack_zip(file, &mut tree).map_err(refused)?;
        tree.finish().map_err(refused)?;
        // One folder wraps a release.
        let mut folders = std::fs::read_dir(temporary.path()).named("read", temporary.path())?;
        let folder = match (folders.next(), folders.next()) {
            (Some(Ok(only)), None) => only.path(),
            _ => temporary.path().to_owned(),
        };
        Ok(Self { folder, _temporary: temporary })
    }
}
