//! From TOML to a checked [`Lock`]: every refusal names line, column and what was expected.

use super::Error;
use super::model::{
    Archive, Channel, FORMAT, Host, Lock, Measured, Package, Part, Source, Toolchain, TreeFacts,
};
use super::system::SYSTEM;
use crate::address;
use crate::digest::Sha256;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLock {
    version: Spanned<i64>,
    #[serde(default)]
    toolchain: Vec<RawToolchain>,
    #[serde(default)]
    package: Vec<RawPackage>,
}

/// Read before the rest, so that a lock of another format gets the error about the format and none about its keys.
#[derive(Deserialize)]
struct RawFormat {
    version: Spanned<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawToolchain {
    name: Spanned<String>,
    host: Spanned<String>,
    rocm: String,
    targets: Vec<Spanned<String>>,
    packages: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPackage {
    name: Spanned<String>,
    version: String,
    host: Option<Spanned<String>>,
    license: String,
    provides: Vec<Part>,
    #[serde(default)]
    only: Vec<String>,
    source: Spanned<Vec<RawSource>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSource {
    channel: Spanned<Channel>,
    tree: Option<TreeFacts>,
    archive: Spanned<Vec<RawArchive>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawArchive {
    url: Option<Spanned<String>>,
    name: Option<String>,
    version: Option<String>,
    suite: Option<String>,
    file: Option<Spanned<String>>,
    size: Option<u64>,
    sha256: Spanned<Sha256>,
    #[serde(default)]
    measured: Vec<Measured>,
}

/// Reads and checks the lock at `path`.
pub(crate) fn load(path: &Path) -> Result<Lock, Error> {
    let text =
        std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    parse(path, &text)
}

/// Checks the lock `text`; `path` is only named in errors.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Lock, Error> {
    let place = Place { path, text };
    let format: RawFormat = toml::from_str(text).map_err(|error| place.syntax(&error))?;
    if *format.version.get_ref() != FORMAT {
        let (line, column) = place.line_and_column(format.version.span());
        let found = *format.version.get_ref();
        return Err(Error::Format { path: path.to_owned(), line, column, found, expected: FORMAT });
    }
    let raw: RawLock = toml::from_str(text).map_err(|error| place.syntax(&error))?;
    debug_assert_eq!(*raw.version.get_ref(), FORMAT);

    let mut names = BTreeSet::new();
    let mut packages = Vec::new();
    for raw in raw.package {
        let host = raw.host.as_ref().map(|host| place.host(host)).transpose()?;
        if !names.insert((raw.name.get_ref().clone(), host)) {
            return Err(place
                .contradiction(raw.name.span(), format!("package `{}` is there twice", raw.name.get_ref())));
        }
        packages.push(place.package(raw, host)?);
    }
    let mut names = BTreeSet::new();
    let mut toolchains = Vec::new();
    for raw in raw.toolchain {
        let host = place.host(&raw.host)?;
        if raw.name.get_ref() == SYSTEM {
            let message = format!("`{SYSTEM}` is the machine's own toolchain and no name for another");
            return Err(place.contradiction(raw.name.span(), message));
        }
        if !names.insert((raw.name.get_ref().clone(), host)) {
            let message = format!("toolchain `{}` is there twice for {host}", raw.name.get_ref());
            return Err(place.contradiction(raw.name.span(), message));
        }
        toolchains.push(place.toolchain(raw, host, &packages)?);
    }
    Ok(Lock { toolchains, packages, digest: Sha256::of(text.replace("\r\n", "\n").as_bytes()) })
}

/// Where in which file: turns byte ranges into lines and columns.
struct Place<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Place<'_> {
    fn line_and_column(&self, span: Range<usize>) -> (usize, usize) {
        let before = &self.text[..span.start.min(self.text.len())];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    fn syntax(&self, error: &toml::de::Error) -> Error {
        let (line, column) = self.line_and_column(error.span().unwrap_or(0..0));
        Error::Syntax { path: self.path.to_owned(), line, column, message: error.message().to_owned() }
    }

    fn contradiction(&self, span: Range<usize>, message: String) -> Error {
        let (line, column) = self.line_and_column(span);
        Error::Contradiction { path: self.path.to_owned(), line, column, message }
    }

    fn host(&self, raw: &Spanned<String>) -> Result<Host, Error> {
        Host::from_triple(raw.get_ref()).ok_or_else(|| {
            let known = Host::ALL.map(|host| format!("`{host}`")).join(", ");
            self.contradiction(
                raw.span(),
                format!("unknown host `{}`, expected one of {known}", raw.get_ref()),
            )
        })
    }

    fn toolchain(&self, raw: RawToolchain, host: Host, packages: &[Package]) -> Result<Toolchain, Error> {
        let mut targets = Vec::new();
        for target in &raw.targets {
            let parsed = gfx::Target::parse(target.get_ref())
                .map_err(|error| self.contradiction(target.span(), error.to_string()))?;
            targets.push(parsed);
        }
        let mut provided = BTreeSet::new();
        for name in &raw.packages {
            let found =
                packages.iter().find(|p| p.name == *name.get_ref() && p.host.is_none_or(|h| h == host));
            let Some(package) = found else {
                let message = format!("there is no package `{}` for {host}", name.get_ref());
                return Err(self.contradiction(name.span(), message));
            };
            for part in &package.provides {
                if !provided.insert(*part) {
                    let message = format!("a second package of this toolchain provides `{}`", part.name());
                    return Err(self.contradiction(name.span(), message));
                }
            }
        }
        let packages = raw.packages.into_iter().map(Spanned::into_inner).collect();
        Ok(Toolchain { name: raw.name.into_inner(), host, rocm: raw.rocm, targets, packages })
    }

    fn package(&self, raw: RawPackage, host: Option<Host>) -> Result<Package, Error> {
        let span = raw.source.span();
        let mut sources = Vec::new();
        for source in raw.source.into_inner() {
            sources.push(self.source(source)?);
        }
        if sources.is_empty() {
            let message = format!("package `{}` has no source", raw.name.get_ref());
            return Err(self.contradiction(span, message));
        }
        let RawPackage { name, version, license, provides, only, .. } = raw;
        Ok(Package { name: name.into_inner(), version, host, license, provides, only, sources })
    }

    fn source(&self, raw: RawSource) -> Result<Source, Error> {
        let channel = *raw.channel.get_ref();
        let span = raw.archive.span();
        let mut archives = Vec::new();
        for archive in raw.archive.into_inner() {
            archives.push(self.archive(channel, archive)?);
        }
        if archives.is_empty() {
            return Err(self.contradiction(span, "a source needs at least one archive".to_owned()));
        }
        Ok(Source { channel, archives, tree: raw.tree })
    }

    /// Each channel asks for its own keys and takes no others.
    fn archive(&self, channel: Channel, raw: RawArchive) -> Result<Archive, Error> {
        let at = raw.sha256.span();
        let wants: &[&str] = match channel {
            Channel::Url => &["url"],
            Channel::Pip => &["name", "version", "file"],
            Channel::Deb => &["name", "version", "suite", "file"],
        };
        let given = [
            ("url", raw.url.is_some()),
            ("name", raw.name.is_some()),
            ("version", raw.version.is_some()),
            ("suite", raw.suite.is_some()),
            ("file", raw.file.is_some()),
        ];
        for (key, present) in given {
            let optional = channel == Channel::Url && key == "file";
            match (wants.contains(&key), present) {
                (true, false) => {
                    let message = format!("an archive of channel `{channel}` needs the key `{key}`");
                    return Err(self.contradiction(at, message));
                }
                (false, true) if !optional => {
                    let message = format!(
                        "an archive of channel `{channel}` has no key `{key}`, expected `{}`",
                        wants.join("`, `")
                    );
                    return Err(self.contradiction(at, message));
                }
                _ => {}
            }
        }
        if let Some(url) = &raw.url {
            crate::fetch::check_url(url.get_ref())
                .map_err(|error| self.contradiction(url.span(), error.to_string()))?;
        }
        let url = raw.url.map(Spanned::into_inner).unwrap_or_default();
        let file = raw.file.map_or_else(|| address::file(&url), Spanned::into_inner);
        if let Err(error) = crate::fetch::Format::of_name(&file) {
            return Err(self.contradiction(at, error.to_string()));
        }
        Ok(Archive {
            url,
            name: raw.name.unwrap_or_default(),
            version: raw.version.unwrap_or_default(),
            suite: raw.suite.unwrap_or_default(),
            file,
            size: raw.size,
            sha256: *raw.sha256.get_ref(),
            measured: raw.measured,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn lock() -> String {
        format!(
            r#"version = 1

[[toolchain]]
name = "t"
host = "x86_64-unknown-linux-gnu"
rocm = "10.0.0"
targets = ["gfx1100"]
packages = ["dist"]

[[package]]
name = "dist"
version = "10.0.0"
license = "MIT"
provides = ["compiler"]

[[package.source]]
channel = "url"

[[package.source.archive]]
url = "https://example.org/dist.tar.gz"
size = 7
sha256 = "{HASH}"
measured = [{{ by = "somebody", on = "2026-11-30" }}]
"#
        )
    }

    fn refusal(old: &str, new: &str) -> String {
        let text = lock();
        assert!(text.contains(old), "{old}");
        match parse(Path::new("toolchains.lock"), &text.replace(old, new)) {
            Ok(_) => panic!("accepted: {new}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_lock_is_read() {
        let lock = parse(Path::new("toolchains.lock"), &lock()).expect("a good lock");
        assert_eq!(lock.packages[0].sources[0].archives[0].file, "dist.tar.gz");
        assert_eq!(lock.toolchains[0].host, Host::Linux);
    }

    #[test]
    fn line_ends_do_not_change_the_digest() {
        let digest = |text: &str| parse(Path::new("toolchains.lock"), text).expect("a good lock").digest;
        assert_eq!(digest(&lock()), digest(&lock().replace('\n', "\r\n")));
        assert_ne!(digest(&lock()), digest(&lock().replace("size = 7", "size = 8")));
    }

    #[test]
    fn every_refusal_says_where_and_what_was_expected() {
        let hash_line = format!("sha256 = \"{HASH}\"");
        let refusals = [
            refusal(&hash_line, ""),
            refusal(&hash_line, "sha256 = \"\""),
            refusal(&hash_line, "sha256 = \"sha256:e3b0\""),
            refusal(HASH, &HASH[1..]),
            refusal("size = 7", "bytes = 7"),
            refusal("size = 7", "size = \"7\""),
            refusal("size = 7", "size = -7"),
            refusal("version = 1\n", "version = 2\n"),
            refusal("version = 1\n", ""),
            refusal("channel = \"url\"", "channel = \"ftp\""),
            refusal("channel = \"url\"", "channel = \"pip\""),
            refusal("https://example.org", "http://example.org"),
            refusal("dist.tar.gz", "dist.rar"),
            refusal("[\"compiler\"]", "[\"kompiler\"]"),
            refusal("[\"dist\"]", "[\"disk\"]"),
            refusal("[\"gfx1100\"]", "[\"gfx9999\"]"),
            refusal("x86_64-unknown-linux-gnu", "x86_64-linux"),
            refusal(
                "[[package]]",
                "[[toolchain]]\nname = \"t\"\nhost = \"x86_64-unknown-linux-gnu\"\nrocm = \"1\"\ntargets = []\npackages = []\n\n[[package]]",
            ),
            refusal("packages = [\"dist\"]", "packages = [\"dist\", \"dist\"]"),
            refusal("rocm = \"10.0.0\"", "rocm = 10.0.0"),
        ];
        insta::assert_snapshot!(refusals.join("\n---\n"));
    }

    #[test]
    fn a_package_may_not_be_there_twice() {
        let text = lock();
        let package = &text[text.find("[[package]]").expect("a package")..];
        let twice = format!("{text}\n{package}");
        let error = parse(Path::new("toolchains.lock"), &twice).expect_err("twice");
        assert_eq!(error.to_string(), "toolchains.lock:26:8: package `dist` is there twice");
    }
}
