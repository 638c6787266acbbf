//! Mirrors: a folder or a server that holds archives by digest, for machines without a way to the sources.

use super::channel::open_url;
use super::feed::{Feed, LocalFeed};
use super::{Context, Error, Places, UrlError, check_url};
use crate::address::shown;
use crate::digest::Sha256;
use crate::lock::Archive;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// One mirror: `<place>/<sha256>/<file>` is an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mirror {
    /// What the user calls it; the place as it may be shown when it has no name.
    pub(crate) name: String,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Folder(PathBuf),
    Server(String),
}

/// Where an archive lies below a mirror.
pub(crate) fn path_below(sha256: Sha256, file: &str) -> String {
    format!("{sha256}/{file}")
}

impl FromStr for Mirror {
    type Err = UrlError;

    /// `URL`, `DIR`, or either after `NAME=`.
    fn from_str(text: &str) -> Result<Self, UrlError> {
        let is_name =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let (name, place) = match text.split_once('=') {
            Some((name, place)) if is_name(name) => (name.to_owned(), place),
            _ if text.contains("://") => (shown(text), text),
            _ => (text.to_owned(), text),
        };
        let place = match place.contains("://") {
            true => {
                check_url(place)?;
                Place::Server(place.trim_end_matches('/').to_owned())
            }
            false => Place::Folder(PathBuf::from(place)),
        };
        Ok(Self { name, place })
    }
}

impl fmt::Display for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Mirror {
    /// Whether it needs a network.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self.place, Place::Server(_))
    }

    /// Whether a folder has the archive; a server is asked when it is needed.
    pub(super) fn may_have(&self, archive: &Archive) -> bool {
        match &self.place {
            Place::Folder(folder) => folder.join(path_below(archive.sha256, &archive.file)).is_file(),
            Place::Server(_) => true,
        }
    }

    /// Opens an archive.
    pub(super) fn open<'a>(
        &self,
        archive: &'a Archive,
        places: &Places,
        context: &'a Context,
    ) -> Result<Box<dyn Feed + 'a>, Error> {
        let path = path_below(archive.sha256, &archive.file);
        match &self.place {
            Place::Folder(folder) => Ok(Box::new(LocalFeed::open(folder.join(path))?)),
            Place::Server(url) => {
                open_url(&format!("{url}/{}", percent_encoded(&path)), archive, places, context)
            }
        }
    }
}

/// What an address cannot hold as it is: `%3a` in Debian's file names, `+` in versions (facts/therock.md 1.1).
fn percent_encoded(path: &str) -> String {
    let plain = |c: u8| c.is_ascii_alphanumeric() || b"/-._~".contains(&c);
    path.bytes().map(|c| if plain(c) { (c as char).to_string() } else { format!("%{c:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_folders_or_servers() {
        let parse = |text: &str| text.parse::<Mirror>();
        assert_eq!(
            parse("lan=https://m.example/x/").expect("named").place,
            Place::Server("https://m.example/x".into())
        );
        assert_eq!(parse("lan=https://m.example/x/").expect("named").name, "lan");
        assert_eq!(parse("/mnt/a=b").expect("a folder").place, Place::Folder("/mnt/a=b".into()));
        assert_eq!(parse("/mnt/c#/m").expect("a folder").name, "/mnt/c#/m", "no address");
        assert_eq!(parse("usb=/mnt/x").expect("named").place, Place::Folder("/mnt/x".into()));
        assert!(parse("http://m.example").is_err(), "plain http");
        assert_eq!(percent_encoded("ab/c_1%3a2+x.deb"), "ab/c_1%253a2%2Bx.deb");
    }
}
