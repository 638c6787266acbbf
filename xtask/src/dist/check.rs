//! Looks at a release as its user will: unpacked somewhere else, every hash compared, every import found again in it, started with nothing in the
//! environment.

use super::closure::{Location, Place, Root, Tree, walk};
use super::{Error, ReleaseManifest, SUMS_FILE, Sums};
use crate::build::{Artifacts, MANIFEST_FILE};
use crate::digest::Sha256;
use crate::fetch::{Format, Limits, Refusal, TreeWriter, unpack_stream, unpack_zip};
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

/// Compares a zip or tar.zst with the SHA256SUMS beside it, when there is one, and its members with the one inside. With `public_key` the list
/// beside it has to be there, signed with that key, and name the archive.
pub(crate) fn verify_archive(path: &Path, public_key: Option<&str>) -> Result<Checked, Error> {
    let mut skipped = Vec::new();
    let beside = path.with_file_name(SUMS_FILE);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(key) = public_key {
        super::check_sums(path.parent().unwrap_or(Path::new("")), key)?;
    }
    let listed = match beside.is_file() {
        true => Sums::parse(&beside, &files::read_text(&beside)?)?.0.get(&name).copied(),
        false => None,
    };
    match listed {
        Some(expected) => {
            let (actual, _) = Sha256::of_file(path).named("read", path)?;
            if actual != expected {
                return Err(Error::Changed { path: path.to_owned(), expected, actual });
            }
        }
        None if public_key.is_some() => return Err(Error::Unlisted { sums: beside, name }),
        None => skipped.push(format!("the zip's own hash: no {SUMS_FILE} beside it names it")),
    }
    let unpacked = Unpacked::of(path)?;
    let mut checked = verify_folder(&unpacked.folder)?;
    checked.skipped = skipped;
    Ok(checked)
}

/// Unpacks a release in a fresh folder, compares every hash, finds every import again in it and starts its programs.
pub(super) fn check_release(archive: &Path) -> Result<Checked, Error> {
    let unpacked = Unpacked::of(archive)?;
    let mut checked = verify_folder(&unpacked.folder)?;
    let manifest = ReleaseManifest::load(&unpacked.folder)?;
    let programs = programs(&manifest);
    check_closure(&unpacked.folder, &manifest, &programs)?;
    let host = manifest.host();
    let mut starts = 0;
    for (name, argument) in [("strata-device", "--selftest"), ("strata", "--version")] {
        let file = format!("{name}{}", host.exe_suffix());
        if !programs.contains(&file) {
            continue;
        }
        starts += 1;
        match Host::THIS.runs(host) {
            true => checked.skipped.extend(start(&unpacked.folder, &file, argument)?),
            false => checked.skipped.push(format!("{file} {argument}: {host} programs do not run here")),
        }
    }
    if starts == 0 {
        checked.skipped.push("a start: the release has neither strata-device nor strata".into());
    }
    Ok(checked)
}

/// The programs of a release, each once.
fn programs(manifest: &ReleaseManifest) -> Vec<String> {
    let outputs = manifest.components.iter().flat_map(|component| &component.outputs);
    let mut programs: Vec<String> =
        outputs.filter(|output| output.executable).map(|output| output.path.clone()).collect();
    programs.sort();
    programs.dedup();
    programs
}

/// As the loader will: from inside the release alone. On Linux what a program loads by name is found through its own RUNPATH.
fn check_closure(folder: &Path, manifest: &ReleaseManifest, programs: &[String]) -> Result<(), Error> {
    let tree = Tree::scan(folder)?;
    let folders = match manifest.host() {
        Host::Linux => vec![String::new()],
        Host::WindowsMsvc | Host::WindowsGnu => vec![String::new(), "rocm/bin".into()],
    };
    let places = [Place { name: "release".into(), listing: &tree, folders }];
    let root = |path: &String| Root::File {
        location: Location { place: 0, path: path.clone() },
        loads: manifest.loaded.clone(),
    };
    walk(programs.iter().map(root).collect(), &places, manifest.host()).map(drop)
}

/// Starts a program and gives what could not be checked.
fn start(folder: &Path, program: &str, argument: &str) -> Result<Option<String>, Error> {
    let path = folder.join(program);
    let mut command = Command::new(&path);
    command.arg(argument).current_dir(folder).env_clear();
    if let (true, Some(root)) = (cfg!(windows), std::env::var_os("SystemRoot")) {
        command.env("PATH", Path::new(&root).join("System32")).env("SystemRoot", root);
    }
    let output = command.output().named("start", &path)?;
    match output.status.code() {
        Some(0) => Ok(None),
        // 6: no HIP runtime, or no GPU that the release is for; everything else of the self-test has passed.
        Some(6) if argument == "--selftest" => Ok(Some(
            "strata-device --selftest on a GPU: this machine has no HIP runtime, or no GPU that this release is for".into(),
        )),
        _ => {
            let words = [output.stdout, output.stderr].concat();
            Err(Error::Start {
                program: format!("{program} {argument}"),
                status: output.status.to_string(),
                output: String::from_utf8_lossy(&words).into_owned(),
            })
        }
    }
}

/// A release, unpacked in a temporary folder that goes with this value.
pub(super) struct Unpacked {
    pub(super) folder: PathBuf,
    _temporary: tempfile::TempDir,
}

impl Unpacked {
    pub(super) fn of(path: &Path) -> Result<Self, Error> {
        let refused = |source: Refusal| Error::Unpack { path: path.to_owned(), source };
        let temporary = tempfile::tempdir().named("create", &std::env::temp_dir())?;
        let file = std::fs::File::open(path).named("open", path)?;
        let mut tree = TreeWriter::new(temporary.path(), &[], Limits::GENEROUS);
        match path.extension().is_some_and(|ending| ending == "zst") {
            true => {
                unpack_stream(Format::TarZst, std::io::BufReader::new(file), &mut tree).map_err(refused)?;
            }
            false => unpack_zip(file, &mut tree).map_err(refused)?,
        }
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
