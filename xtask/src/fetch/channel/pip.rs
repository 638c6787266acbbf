//! Wheels through the machine's own pip: its index, its proxy and its certificates are the ones that are used.

use super::run::run;
use crate::fetch::Error;
use crate::lock::Archive;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

const CANDIDATES: [&[&str]; 4] = [&["python3", "-m", "pip"], &["pip3"], &["pip"], &["py", "-3", "-m", "pip"]];

/// Downloads exactly the archive's file into `folder`.
pub(super) fn download(archive: &Archive, folder: &Path) -> Result<(), Error> {
    download_into(archive, folder)?;
    if folder.join(&archive.file).is_file() {
        return Ok(());
    }
    let (expected, found) = (archive.file.clone(), names_in(folder));
    Err(Error::PipOtherFile { what: archive.label(), expected, found })
}

/// Downloads whatever wheel pip has for the archive's name and version.
pub(super) fn download_any(archive: &Archive, folder: &Path) -> Result<PathBuf, Error> {
    download_into(archive, folder)?;
    match names_in(folder).as_slice() {
        [file] => Ok(folder.join(file)),
        found => Err(Error::PipOtherFile {
            what: archive.label(),
            expected: "one wheel".into(),
            found: found.to_vec(),
        }),
    }
}

fn download_into(archive: &Archive, folder: &Path) -> Result<(), Error> {
    let mut command = find_pip()?;
    command.args(arguments(archive, folder));
    let failed = |output| Error::Pip { what: archive.label(), output };
    let ended = run(&mut command, |error| failed(error.to_string()))?;
    match ended.success {
        true => Ok(()),
        false => Err(failed(ended.tail)),
    }
}

/// No source distribution is taken: pip would run its build back end, which is code nobody has verified.
fn arguments(archive: &Archive, folder: &Path) -> Vec<OsString> {
    let fixed = [
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--no-input",
        "--disable-pip-version-check",
        "--quiet",
    ];
    let mut arguments: Vec<OsString> = fixed.map(OsString::from).into();
    arguments.extend(platforms(&archive.file).into_iter().flat_map(|p| ["--platform".into(), p.into()]));
    arguments.extend(["--dest".into(), folder.into()]);
    arguments.push(match archive.version.is_empty() {
        true => archive.name.clone().into(),
        false => format!("{}=={}", archive.name, archive.version).into(),
    });
    arguments
}

/// The platform tags of a wheel's name (PEP 427), which pip must be told when they are not this machine's; `any` needs none.
fn platforms(file: &str) -> Vec<String> {
    let tags = file.strip_suffix(".whl").and_then(|stem| stem.rsplit('-').next()).unwrap_or_default();
    tags.split('.').filter(|tag| !tag.is_empty() && *tag != "any").map(str::to_owned).collect()
}

/// Whether there is a pip.
pub(super) fn check() -> Result<(), Error> {
    find_pip().map(drop)
}

fn find_pip() -> Result<Command, Error> {
    for candidate in CANDIDATES {
        let mut command = Command::new(candidate[0]);
        command.args(&candidate[1..]);
        let tried = run(command.arg("--version"), |error| Error::NoPip { tried: vec![error.to_string()] });
        if let Err(Error::Interrupted) = tried {
            return Err(Error::Interrupted);
        }
        if tried.is_ok_and(|ended| ended.success) {
            let mut found = Command::new(candidate[0]);
            found.args(&candidate[1..]);
            return Ok(found);
        }
    }
    Err(Error::NoPip { tried: CANDIDATES.map(|words| words.join(" ")).into() })
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_come_from_the_wheel_name() {
        let of = |file: &str| platforms(file).join(" ");
        assert_eq!(of("ninja-1.13.2-py3-none-win_amd64.whl"), "win_amd64");
        assert_eq!(of("amd_aiter-0.1.7-py3-none-any.whl"), "");
        assert_eq!(
            of("cmake-4.4.5-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"),
            "manylinux2014_x86_64 manylinux_2_17_x86_64"
        );
        assert_eq!(of(""), "");
    }
}
