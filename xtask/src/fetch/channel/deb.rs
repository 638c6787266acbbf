//! Debian packages through the machine's own `apt-get download`, in a private state folder: nothing is installed, no root is needed, and apt
//! checks the archive's signature before we check size and sha256.

use super::run::run;
use crate::fetch::Error;
use crate::lock::Archive;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Suites of Debian's main archive; a machine's entry for one of them is a mirror that has the others too.
const SUITES: [&str; 9] =
    ["bullseye", "bookworm", "trixie", "forky", "oldoldstable", "oldstable", "stable", "testing", "sid"];

/// The machine's Debian mirrors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mirrors {
    /// Carries `bookworm`, `trixie`, …
    pub(crate) main: Option<Mirror>,
    /// Carries `bookworm-security`, …
    pub(crate) security: Option<Mirror>,
}

/// One mirror, as apt names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mirror {
    /// What stands after `URIs:`.
    pub(crate) uris: String,
    /// The keyring that signs it.
    pub(crate) signed_by: String,
}

impl Mirrors {
    /// Those of this machine's sources, or those that STRATA_DEBIAN_MIRROR and STRATA_DEBIAN_SECURITY_MIRROR name.
    pub(crate) fn of_machine() -> Self {
        let named = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let found = Self::of_sources(&read_machine_sources());
        found.overridden(named("STRATA_DEBIAN_MIRROR"), named("STRATA_DEBIAN_SECURITY_MIRROR"))
    }

    /// Finds the mirrors in the texts of apt's source files (both formats, sources.list(5)).
    fn of_sources(texts: &[String]) -> Self {
        let mut mirrors = Self::default();
        for (uris, suites, signed_by) in texts.iter().flat_map(|text| entries(text)) {
            let mirror = || Some(Mirror { uris: uris.clone(), signed_by: signed_by.clone() });
            for suite in suites {
                match suite.strip_suffix("-security").or(suite.strip_suffix("/updates")) {
                    Some(base) if SUITES.contains(&base) => {
                        mirrors.security = mirrors.security.take().or_else(mirror);
                    }
                    None if SUITES.contains(&suite.as_str()) => {
                        mirrors.main = mirrors.main.take().or_else(mirror);
                    }
                    _ => {}
                }
            }
        }
        mirrors
    }

    /// Replaces a mirror by the one that an environment variable names.
    fn overridden(mut self, main: Option<String>, security: Option<String>) -> Self {
        let mirror = |uris| Mirror { uris, signed_by: KEYRING.to_owned() };
        self.main = main.map(mirror).or(self.main);
        self.security = security.map(mirror).or(self.security);
        self
    }

    /// A sources file that holds just `suites`.
    fn sources_for<'a>(&self, suites: impl IntoIterator<Item = &'a str>) -> Result<String, Error> {
        let mut text = String::new();
        for suite in suites {
            let mirror = if suite.ends_with("-security") { &self.security } else { &self.main };
            let Some(Mirror { uris, signed_by }) = mirror else {
                return Err(Error::NoMirror { suite: suite.to_owned() });
            };
            text += &format!(
                "Types: deb\nURIs: {uris}\nSuites: {suite}\nComponents: main\nSigned-By: {signed_by}\n\n"
            );
        }
        Ok(text)
    }
}

/// (URIs, suites, keyring) of every enabled binary entry.
fn entries(text: &str) -> Vec<(String, Vec<String>, String)> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut found = Vec::new();
    for stanza in text.split("\n\n") {
        let field = |key: &str| {
            stanza.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim().to_owned()))
        };
        if let (Some(uris), Some(suites)) = (field("URIs"), field("Suites")) {
            let is_binary = field("Types").is_none_or(|types| words(&types).contains(&"deb".to_owned()));
            if is_binary && field("Enabled").as_deref() != Some("no") {
                found.push((uris, words(&suites), field("Signed-By").unwrap_or_else(|| KEYRING.to_owned())));
            }
            continue;
        }
        for line in stanza.lines() {
            let Some(rest) = line.trim().strip_prefix("deb ") else { continue };
            let (options, rest) = match rest.trim().strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                Some((options, rest)) => (options, rest),
                None => ("", rest),
            };
            let signed_by =
                words(options).iter().find_map(|o| Some(o.strip_prefix("signed-by=")?.to_owned()));
            if let [uri, suite, ..] = words(rest).as_slice() {
                found.push((
                    uri.clone(),
                    vec![suite.clone()],
                    signed_by.unwrap_or_else(|| KEYRING.to_owned()),
                ));
            }
        }
    }
    found
}

/// Downloads every archive into `folder`, under the names that the lock gives.
pub(super) fn download(
    package: &str,
    archives: &[Archive],
    folder: &Path,
    mirrors: &Mirrors,
) -> Result<(), Error> {
    let apt = Apt::prepare(archives, folder, mirrors)?;
    let ended = apt.run("apt-get", &["download"], archives.iter().map(pin))?;
    if !ended.success {
        let gone = |archive: &&Archive| {
            ended.tail.contains(&format!("'{}' for '{}", archive.version, archive.name))
                || ended.tail.contains(&format!("locate package {}", archive.name))
        };
        return Err(match archives.iter().find(gone) {
            Some(archive) => Error::VersionGone {
                package: package.to_owned(),
                name: archive.name.clone(),
                version: archive.version.clone(),
                suite: archive.suite.clone(),
                newer: apt.candidate(&archive.name)?,
            },
            None => Error::Apt { step: "download", output: ended.tail },
        });
    }
    Ok(())
}

/// Downloads the newest version, or the given one, of one package.
pub(super) fn download_any(archive: &Archive, folder: &Path, mirrors: &Mirrors) -> Result<PathBuf, Error> {
    let apt = Apt::prepare(std::slice::from_ref(archive), folder, mirrors)?;
    let what = if archive.version.is_empty() { archive.name.clone() } else { pin(archive) };
    let ended = apt.run("apt-get", &["download"], [what])?;
    let debs = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    match debs.filter(|path| path.extension().is_some_and(|ending| ending == "deb")).last() {
        Some(path) if ended.success => Ok(path),
        _ => Err(Error::Apt { step: "download", output: ended.tail }),
    }
}

/// Whether there is an apt, and a mirror for each suite.
pub(super) fn check(archives: &[&Archive], mirrors: &Mirrors) -> Result<(), Error> {
    let what = archives.first().map(|archive| archive.label()).unwrap_or_default();
    run(Command::new("apt-get").arg("--version"), |_| Error::NoApt { what })?;
    mirrors.sources_for(archives.iter().map(|archive| archive.suite.as_str())).map(drop)
}

fn pin(archive: &Archive) -> String {
    format!("{}={}", archive.name, archive.version)
}

/// apt with lists, cache and sources of its own.
struct Apt<'a> {
    folder: &'a Path,
    options: Vec<String>,
    what: String,
}

impl<'a> Apt<'a> {
    fn prepare(archives: &[Archive], folder: &'a Path, mirrors: &Mirrors) -> Result<Self, Error> {
        let suites: BTreeSet<&str> = archives.iter().map(|archive| archive.suite.as_str()).collect();
        let what = archives.first().map(Archive::label).unwrap_or_default();
        Self::new(suites, folder, mirrors, &what)
    }

    fn new<'s>(
        suites: impl IntoIterator<Item = &'s str>,
        folder: &'a Path,
        mirrors: &Mirrors,
        what: &str,
    ) -> Result<Self, Error> {
        let state = folder.join("apt");
        let sources = state.join("debian.sources");
        for part in ["lists/partial", "cache/archives/partial"] {
            let path = state.join(part);
            std::fs::create_dir_all(&path).map_err(|source| Error::Io { verb: "create", path, source })?;
        }
        let text = mirrors.sources_for(suites)?;
        std::fs::write(&sources, text).map_err(|source| Error::Io {
            verb: "write",
            path: sources.clone(),
            source,
        })?;
        let options = [
            format!("Dir::State::Lists={}", state.join("lists").display()),
            format!("Dir::Cache={}", state.join("cache").display()),
            format!("Dir::Etc::sourcelist={}", sources.display()),
            "Dir::Etc::sourceparts=/dev/null".to_owned(),
            "APT::Architecture=amd64".to_owned(),
            "APT::Architectures=amd64".to_owned(),
            // Only package lists; no translations, no file lists.
            "Acquire::Languages=none".to_owned(),
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false".to_owned(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
            // As root apt would hand the download to a user who cannot write to our folder.
            "APT::Sandbox::User=root".to_owned(),
            "APT::Get::AllowUnauthenticated=false".to_owned(),
            "Acquire::AllowInsecureRepositories=false".to_owned(),
            // A mirror that does not answer is no mirror without the package.
            "APT::Update::Error-Mode=any".to_owned(),
        ];
        let apt = Self { folder, options: options.into(), what: what.to_owned() };
        let ended = apt.run("apt-get", &["update"], [])?;
        match ended.success {
            true => Ok(apt),
            false => Err(Error::Apt { step: "update", output: ended.tail }),
        }
    }

    fn run(
        &self,
        program: &str,
        step: &[&str],
        packages: impl IntoIterator<Item = String>,
    ) -> Result<super::run::Ended, Error> {
        let mut command = Command::new(program);
        command.current_dir(self.folder).env("LC_ALL", "C.UTF-8").arg("-q");
        command.args(self.options.iter().flat_map(|option| ["-o", option])).args(step).args(packages);
        run(&mut command, |error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::NoApt { what: self.what.clone() },
            _ => Error::Apt { step: "start", output: error.to_string() },
        })
    }

    fn candidate(&self, name: &str) -> Result<Option<String>, Error> {
        let ended = self.run("apt-cache", &["policy"], [name.to_owned()])?;
        let candidate = ended.stdout.lines().find_map(|line| line.trim().strip_prefix("Candidate:"));
        Ok(candidate.map(|version| version.trim().to_owned()).filter(|version| version != "(none)"))
    }
}

/// The texts of this machine's apt source files.
fn read_machine_sources() -> Vec<String> {
    let folder = Path::new("/etc/apt/sources.list.d");
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = listed.chain([PathBuf::from("/etc/apt/sources.list")]).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "list" || ending == "sources"));
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_found_in_both_formats_and_strangers_are_not() {
        let modern = "Types: deb deb-src\nURIs: http://one.example/debian\nSuites: bookworm bookworm-updates\nComponents: main\n\
                      Signed-By: /k.gpg\n\nTypes: deb\nURIs: http://two.example/sec\nSuites: bookworm-security\nComponents: main\n";
        let classic = "# comment\ndeb [arch=amd64 signed-by=/g.gpg] http://three.example/debian trixie main\n\
                       deb http://four.example/security bullseye/updates main\ndeb-src http://no.example x main\n";
        let stranger = "deb http://vendor.example/apt cloud-sdk-bookworm main\n";
        let of =
            |texts: &[&str]| Mirrors::of_sources(&texts.iter().map(ToString::to_string).collect::<Vec<_>>());
        let uri = |mirror: &Option<Mirror>| mirror.clone().map(|m| (m.uris, m.signed_by));

        let found = of(&[stranger, modern]);
        assert_eq!(uri(&found.main), Some(("http://one.example/debian".into(), "/k.gpg".into())));
        assert_eq!(uri(&found.security), Some(("http://two.example/sec".into(), KEYRING.into())));

        let found = of(&[stranger, classic]);
        assert_eq!(uri(&found.main), Some(("http://three.example/debian".into(), "/g.gpg".into())));
        assert_eq!(uri(&found.security), Some(("http://four.example/security".into(), KEYRING.into())));

        assert_eq!(of(&[stranger, "Enabled: no\nTypes: deb\nURIs: x\nSuites: sid\n"]), Mirrors::default());
    }

    #[test]
    fn a_missing_mirror_names_the_suite() {
        let mirrors = Mirrors::default().overridden(Some("http://m.example".into()), None);
        assert!(mirrors.sources_for(["trixie"]).expect("main").contains("Suites: trixie\n"));
        assert!(
            matches!(mirrors.sources_for(["trixie-security"]), Err(Error::NoMirror { suite }) if suite == "trixie-security")
        );
    }
}
