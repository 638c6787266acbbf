//! Which addresses are asked, and how.

use super::{Error, UrlError};
use std::io::Read;
use std::time::Duration;

const CONNECT: Duration = Duration::from_secs(15);
const FIRST_BYTE: Duration = Duration::from_secs(60);

/// An answer that has begun to come.
pub(super) struct Answer {
    /// 200 or 206.
    pub(super) status: u16,
    /// Of the whole file or the range.
    pub(super) length: Option<u64>,
    /// First byte and total of a 206.
    pub(super) range: Option<(u64, Option<u64>)>,
    /// A strong ETag, else the date of the last change.
    pub(super) validator: Option<String>,
    /// The bytes as they are on the wire: no content coding is undone, since the hash is of the file.
    pub(super) reader: Box<dyn Read + Send>,
}

/// A request that was answered with something else than bytes.
pub(super) struct Refused {
    /// What to tell.
    pub(super) error: Error,
    /// How long the server asks to wait.
    pub(super) retry_after: Option<Duration>,
}

/// https anywhere, http only on this machine.
pub(crate) fn check_url(url: &str) -> Result<(), UrlError> {
    let Some((scheme, rest)) = url.split_once("://") else { return Err(UrlError::Scheme(url.to_owned())) };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host_and_port = authority.rsplit('@').next().unwrap_or_default();
    let host = match host_and_port.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host_and_port.split(':').next().unwrap_or_default(),
    };
    let is_loopback =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    match scheme {
        _ if host.is_empty() => Err(UrlError::Scheme(url.to_owned())),
        "https" => Ok(()),
        "http" if is_loopback => Ok(()),
        "http" => Err(UrlError::PlainHttp(url.to_owned())),
        _ => Err(UrlError::Scheme(url.to_owned())),
    }
}

/// Asks for `url` from byte `from` on; follows redirects, but never from https to http.
///
/// With `if_range` the server sends the range only when its file is still the one that the validator names, and all of it otherwise.
pub(super) fn get(url: &str, from: u64, if_range: Option<&str>) -> Result<Answer, Refused> {
    check_url(url).map_err(|error| Refused { error: error.into(), retry_after: None })?;
    let config = ureq::Agent::config_builder()
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(FIRST_BYTE))
        .https_only(url.starts_with("https://"))
        .http_status_as_error(false)
        .user_agent(concat!("xtask/", env!("CARGO_PKG_VERSION")))
        .tls_config(
            ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::PlatformVerifier).build(),
        )
        .build();
    let mut request = ureq::Agent::new_with_config(config).get(url).header("Accept-Encoding", "identity");
    if from > 0 {
        request = request.header("Range", format!("bytes={from}-"));
        if let Some(validator) = if_range {
            request = request.header("If-Range", validator);
        }
    }
    let response = request.call().map_err(|error| Refused {
        error: Error::Connect { url: url.to_owned(), reason: error.to_string() },
        retry_after: None,
    })?;
    let status = response.status().as_u16();
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    if !matches!(status, 200 | 206) {
        let retry_after = header("retry-after").and_then(|text| text.parse().ok()).map(Duration::from_secs);
        return Err(Refused { error: Error::Status { url: url.to_owned(), status }, retry_after });
    }
    let etag = header("etag").filter(|etag| etag.starts_with('"'));
    Ok(Answer {
        status,
        length: header("content-length").and_then(|text| text.parse().ok()),
        range: header("content-range").and_then(parse_content_range),
        validator: etag.or_else(|| header("last-modified")).map(str::to_owned),
        reader: Box::new(response.into_body().into_reader()),
    })
}

/// `bytes 5-9/10` is (5, 10); `bytes 5-9/*` is (5, unknown).
fn parse_content_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let start = range.split_once('-')?.0.parse().ok()?;
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    Some((start, total))
}

/// Whether two addresses are of one origin (RFC 6454): a validator means nothing elsewhere.
pub(super) fn same_origin(a: &str, b: &str) -> bool {
    let origin = |url: &str| url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/").to_ascii_lowercase();
    origin(a) == origin(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_anywhere_http_only_here() {
        for good in
            ["https://example.org/a.zip", "http://127.0.0.1:80/a", "http://localhost/a", "http://[::1]:9/a"]
        {
            assert_eq!(check_url(good), Ok(()), "{good}");
        }
        for plain in
            ["http://example.org/a", "http://127.0.0.1.example.org/a", "http://localhost@example.org/a"]
        {
            assert_eq!(check_url(plain), Err(UrlError::PlainHttp(plain.to_owned())));
        }
        for other in ["ftp://example.org/a", "example.org/a", "file:///a", "https:///a", ""] {
            assert_eq!(check_url(other), Err(UrlError::Scheme(other.to_owned())));
        }
    }

    #[test]
    fn content_ranges() {
        assert_eq!(parse_content_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(parse_content_range("bytes 5-9/*"), Some((5, None)));
        for bad in ["", "bytes */10", "items 5-9/10", "bytes 5-9/x", "bytes -9/10"] {
            assert_eq!(parse_content_range(bad), None, "{bad}");
        }
    }

    #[test]
    fn origins_are_scheme_host_and_port() {
        assert!(same_origin("https://a.example/x", "https://A.example/y/z"));
        assert!(!same_origin("https://a.example/x", "http://a.example/x"));
        assert!(!same_origin("http://127.0.0.1:1/x", "http://127.0.0.1:2/x"));
    }
}
