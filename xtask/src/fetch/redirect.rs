//! Where a redirect leads, and whether it may be followed.

use super::{UrlError, check_url};
use crate::address::shown;

/// As many as curl and browsers bear.
pub(super) const MOST: usize = 10;

/// A redirect that is not followed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum RedirectError {
    /// Encryption would end.
    #[error("`{from}` redirects to `{to}`, away from https")]
    Downgrade {
        /// The address that was asked.
        from: String,
        /// Where it sends.
        to: String,
    },
    /// A place that is never asked.
    #[error("`{from}` redirects to an address that is never asked")]
    Forbidden {
        /// The address that was asked.
        from: String,
        /// Why not.
        source: UrlError,
    },
    /// A redirect without an address.
    #[error("`{from}` redirects to nowhere")]
    Nowhere {
        /// The address that was asked.
        from: String,
    },
    /// They never end.
    #[error("`{from}` redirects more than {MOST} times")]
    TooMany {
        /// The address that was asked first.
        from: String,
    },
}

/// The address that `location`, as the answer of `from` gave it, stands for (RFC 3986, 5.2).
pub(super) fn follow(from: &str, location: Option<&str>) -> Result<String, RedirectError> {
    let location = location.filter(|location| !location.is_empty());
    let location = location.ok_or_else(|| RedirectError::Nowhere { from: shown(from) })?;
    let to = resolve(from, location);
    if from.starts_with("https://") && !to.starts_with("https://") {
        return Err(RedirectError::Downgrade { from: shown(from), to: shown(&to) });
    }
    check_url(&to).map_err(|source| RedirectError::Forbidden { from: shown(from), source })?;
    Ok(to)
}

fn resolve(from: &str, location: &str) -> String {
    let (scheme, rest) = from.split_once("://").unwrap_or(("https", from));
    let path_start = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(path_start);
    if location.split(['/', '?', '#']).next().is_some_and(|start| start.contains(':')) {
        return location.to_owned();
    }
    if let Some(other) = location.strip_prefix("//") {
        return format!("{scheme}://{other}");
    }
    if location.starts_with('/') {
        return format!("{scheme}://{authority}{location}");
    }
    let folder = path.split(['?', '#']).next().and_then(|path| path.rsplit_once('/')).map_or("", |(f, _)| f);
    format!("{scheme}://{authority}{folder}/{location}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_resolved_against_the_address() {
        for (location, expected) in [
            ("https://b.example/y", "https://b.example/y"),
            ("//b.example/y", "https://b.example/y"),
            ("/y/z", "https://a.example/y/z"),
            ("y", "https://a.example/x/y"),
            ("y?at=12:30", "https://a.example/x/y?at=12:30"),
        ] {
            assert_eq!(follow("https://a.example/x/file?q=/", Some(location)).as_deref(), Ok(expected));
        }
        assert_eq!(follow("https://a.example", Some("y")).as_deref(), Ok("https://a.example/y"));
    }

    #[test]
    fn encryption_never_ends_and_other_schemes_are_never_asked() {
        let kind = |from: &str, to: &str| match follow(from, Some(to)) {
            Err(RedirectError::Downgrade { .. }) => "downgrade",
            Err(RedirectError::Forbidden { .. }) => "forbidden",
            other => panic!("{other:?}"),
        };
        assert_eq!(kind("https://a.example/", "http://a.example/"), "downgrade");
        assert_eq!(kind("https://a.example/", "http://127.0.0.1/"), "downgrade");
        assert_eq!(kind("https://a.example/", "file:///etc/passwd"), "downgrade");
        assert_eq!(kind("http://127.0.0.1/", "http://a.example/"), "forbidden");
        assert_eq!(kind("http://127.0.0.1/", "ftp://a.example/"), "forbidden");
        assert!(follow("http://127.0.0.1/", Some("https://a.example/")).is_ok());
        assert!(matches!(follow("https://a.example/", None), Err(RedirectError::Nowhere { .. })));
    }
}
