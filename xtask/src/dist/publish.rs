//! The last steps: an archive gets its name when it has passed, and then what lies beside it is written.

use super::check::{Checked, check_release};
use super::evidence::{self, Download, PROVENANCE_FILE, Source};
use super::{Bundle, Error, ReleaseManifest, SUMS_FILE, Sums};
use crate::digest::Sha256;
use crate::files::{self, Named};
use archive::Timestamp;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The SBOMs in every release; they lie beside it too, for programs that read nothing else.
pub(super) const SBOM_FILES: [&str; 2] = ["sbom.spdx.json", "sbom.cdx.json"];

/// A release that has its name.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    /// The release's name.
    pub(crate) name: String,
    /// The zip and, where it was asked for, the tar.zst.
    pub(crate) archives: Vec<PathBuf>,
    /// What was found to be right.
    pub(crate) checked: Checked,
    /// What it was built from.
    pub(crate) manifest: ReleaseManifest,
}

/// Packs, checks and names a release in `out`. Nothing has its final name before all of it has passed.
pub(crate) fn publish(
    bundle: &Bundle,
    out: &Path,
    time: Timestamp,
    with_tar: bool,
) -> Result<Published, Error> {
    let unchecked = tempfile::Builder::new().prefix(".unchecked-").tempdir_in(out).named("create", out)?;
    let zip = unchecked.path().join(format!("{}.zip", bundle.name));
    let members = bundle.archive_members();
    write(&zip, |file| archive::write_zip(&members, time, file))?;
    let checked = check_release(&zip)?;
    let mut packed = vec![zip];
    if with_tar {
        let tar = unchecked.path().join(format!("{}.tar.zst", bundle.name));
        write(&tar, |file| archive::write_tar_zst(&members, time, file))?;
        super::verify_archive(&tar, None)?;
        packed.push(tar);
    }
    for (name, text) in &bundle.sboms {
        let path = unchecked.path().join(format!("{}.{name}", bundle.name));
        std::fs::write(&path, text).named("write", &path)?;
        packed.push(path);
    }
    files::sync(unchecked.path())?;
    let mut archives = Vec::new();
    for path in packed {
        let named = out.join(path.file_name().unwrap_or_default());
        files::rename(&path, &named)?;
        archives.push(named);
    }
    archives.retain(|path| is_archive(&path.to_string_lossy()));
    Ok(Published { name: bundle.name.clone(), archives, checked, manifest: bundle.manifest.clone() })
}

/// Takes over a release that was packed elsewhere, after checking it as if it were packed here.
pub(crate) fn publish_merged(zip: &Path, out: &Path) -> Result<Published, Error> {
    super::verify_archive(zip, None)?;
    let manifest = super::merge::manifest_of(zip)?;
    let checked = check_release(zip)?;
    let file = zip.file_name().unwrap_or_default();
    let unchecked = tempfile::Builder::new().prefix(".unchecked-").tempdir_in(out).named("create", out)?;
    let (copy, named) = (unchecked.path().join(file), out.join(file));
    std::fs::copy(zip, &copy).named("copy", zip)?;
    files::sync(&copy)?;
    files::rename(&copy, &named)?;
    let name = file.to_string_lossy().trim_end_matches(".zip").to_owned();
    let unpacked = super::check::Unpacked::of(&named)?;
    for sbom in SBOM_FILES {
        let (from, to) = (unpacked.folder.join(sbom), out.join(format!("{name}.{sbom}")));
        let text = std::fs::read(&from).named("read", &from)?;
        files::write_whole(&to, &text)?;
    }
    Ok(Published { name, archives: vec![named], checked, manifest })
}

fn write(
    path: &Path,
    pack: impl FnOnce(BufWriter<&File>) -> Result<(), archive::Error>,
) -> Result<(), Error> {
    let file = File::create(path).named("create", path)?;
    pack(BufWriter::new(&file)).map_err(|source| Error::Archive { path: path.to_owned(), source })?;
    Ok(file.sync_all().named("write", path)?)
}

/// Writes the provenance of the releases and wheels of this run.
pub(crate) fn write_provenance(
    out: &Path,
    releases: &[Published],
    wheels: &[PathBuf],
    source: &Source,
) -> Result<PathBuf, Error> {
    let mut archives = Vec::new();
    for path in releases.iter().flat_map(|release| &release.archives).chain(wheels) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        archives.push((name, Sha256::of_file(path).named("read", path)?.0));
    }
    archives.sort();
    let manifests: Vec<&ReleaseManifest> = releases.iter().map(|release| &release.manifest).collect();
    let path = out.join(PROVENANCE_FILE);
    files::write_whole(&path, &evidence::provenance(&archives, &manifests, source))?;
    Ok(path)
}

/// Writes scoop's and winget's manifests for the Windows releases, whose zips will be below `base`.
pub(crate) fn package_manifests(
    out: &Path,
    releases: &[Published],
    base: &str,
) -> Result<Vec<PathBuf>, Error> {
    let mut written = Vec::new();
    for release in releases.iter().filter(|release| release.manifest.host.contains("windows")) {
        let Some(zip) = release.archives.iter().find(|path| path.extension().is_some_and(|e| e == "zip"))
        else {
            continue;
        };
        let variant = release.name.rsplit('-').next().unwrap_or(&release.name).to_owned();
        let outputs = release.manifest.components.iter().flat_map(|component| &component.outputs);
        // BUILD.json calls a DLL executable too.
        let is_program = |path: &&String| path.ends_with(".exe");
        let mut programs: Vec<String> =
            outputs.map(|output| &output.path).filter(is_program).cloned().collect();
        programs.sort();
        programs.dedup();
        let download = Download {
            name: release.name.clone(),
            version: release.manifest.version.clone(),
            variant,
            url: format!("{}/{}.zip", base.trim_end_matches('/'), release.name),
            sha256: Sha256::of_file(zip).named("read", zip)?.0,
            programs,
        };
        for (name, text) in [evidence::scoop(&download)].into_iter().chain(evidence::winget(&download)) {
            let path = out.join(name);
            files::create_folder(path.parent().unwrap_or(out))?;
            files::write_whole(&path, &text)?;
            written.push(path);
        }
    }
    Ok(written)
}

/// One line for every file of the folder that a user may download, also those of earlier runs. A signature of another list goes.
pub(crate) fn write_sums(out: &Path) -> Result<PathBuf, files::Error> {
    files::remove_tree(&out.join(super::sign::SIGNATURE_FILE))?;
    let is_listed = |name: &String| {
        let is_evidence = name.ends_with(".json") && (name.starts_with("strata-") || name == PROVENANCE_FILE);
        !name.contains('/') && (is_archive(name) || name.ends_with(".whl") || is_evidence)
    };
    let mut sums = Sums::default();
    for name in files::list(out)?.into_iter().filter(is_listed) {
        let path = out.join(&name);
        sums.0.insert(name, Sha256::of_file(&path).named("read", &path)?.0);
    }
    let path = out.join(SUMS_FILE);
    files::write_whole(&path, sums.to_string().as_bytes())?;
    Ok(path)
}

fn is_archive(name: &str) -> bool {
    name.ends_with(".zip") || name.ends_with(".tar.zst")
}
