//! Which addresses are asked, and how.

use super::redirect::{self, RedirectError};
use super::{Error, UrlError};
use crate::address::shown;
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
    /// The length of the whole file, where bytes behind its end were asked for (RFC 9110, 15.5.17).
    pub(super) whole: Option<u64>,
}

impl<E: Into<Error>> From<E> for Refused {
    fn from(error: E) -> Self {
        Self { error: error.into(), retry_after: None, whole: None }
    }
}

/// https anywhere, http only on this machine.
pub(crate) fn check_url(url: &str) -> Result<(), UrlError> {
    let Some((scheme, rest)) = url.split_once("://") else { return Err(UrlError::Scheme(shown(url))) };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host_and_port = authority.rsplit('@').next().unwrap_or_default();
    let host = match host_and_port.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host_and_port.split(':').next().unwrap_or_default(),
    };
    let is_loopback =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    match scheme {
        _ if host.is_empty() => Err(UrlError::Scheme(shown(url))),
        "https" => Ok(()),
        "http" if is_loopback => Ok(()),
        "http" => Err(UrlError::PlainHttp(shown(url))),
        _ => Err(UrlError::Scheme(shown(url))),
    }
}

/// Which bytes of a file are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The first.
    pub(super) from: u64,
    /// The one after the last; `None`: all that there are.
    pub(super) end: Option<u64>,
}

impl Wanted {
    /// All bytes from this one on.
    pub(super) fn from(from: u64) -> Self {
        Self { from, end: None }
    }

    /// The value of the `Range` header (RFC 9110, 14.1.2), none for the whole file.
    fn header(self) -> Option<String> {
        match (self.from, self.end) {
            (0, None) => None,
            (from, None) => Some(format!("bytes={from}-")),
            (from, Some(end)) => Some(format!("bytes={from}-{}", end.saturating_sub(1))),
        }
    }
}

/// Asks for a part of `url`; follows redirects, each checked like the first address, and never from https to http.
///
/// With `if_range` the server sends the range only when its file is still the one that the validator names, and all of it otherwise.
pub(super) fn get(url: &str, wanted: Wanted, if_range: Option<&str>) -> Result<Answer, Refused> {
    let mut address = url.to_owned();
    check_url(&address)?;
    for _ in 0..=redirect::MOST {
        let response = ask(&address, wanted, if_range)?;
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        match status {
            200 | 206 => return Ok(answer(response)),
            301 | 302 | 303 | 307 | 308 => {
                address = redirect::follow(&address, header("location"))?;
            }
            _ => {
                let seconds = header("retry-after").and_then(|text| text.parse().ok());
                return Err(Refused {
                    error: Error::Status { url: shown(url), status },
                    retry_after: seconds.map(Duration::from_secs),
                    whole: header("content-range")
                        .filter(|_| status == 416)
                        .and_then(|text| text.strip_prefix("bytes */")?.parse().ok()),
                });
            }
        }
    }
    Err(RedirectError::TooMany { from: shown(url) }.into())
}

/// One request. Proxies come from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY; roots from the operating system, or on Linux from SSL_CERT_FILE.
fn ask(
    url: &str,
    wanted: Wanted,
    if_range: Option<&str>,
) -> Result<ureq::http::Response<ureq::Body>, Refused> {
    let config = ureq::Agent::config_builder()
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(FIRST_BYTE))
        .https_only(url.starts_with("https://"))
        .http_status_as_error(false)
        .max_redirects(0)
        .user_agent(concat!("xtask/", env!("CARGO_PKG_VERSION")))
        .tls_config(
            ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::PlatformVerifier).build(),
        )
        .build();
    let mut request = ureq::Agent::new_with_config(config).get(url).header("Accept-Encoding", "identity");
    if let Some(range) = wanted.header() {
        request = request.header("Range", range);
        if let Some(validator) = if_range {
            request = request.header("If-Range", validator);
        }
    }
    request.call().map_err(|error| {
        let (reason, url) = (error.to_string().replace(url, &shown(url)), shown(url));
        match reason.contains("certificate") {
            true => Error::Certificate { url, reason }.into(),
            false => Error::Connect { url, reason }.into(),
        }
    })
}

fn answer(response: ureq::http::Response<ureq::Body>) -> Answer {
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let etag = header("etag").filter(|etag| etag.starts_with('"'));
    Answer {
        status: response.status().as_u16(),
        length: header("content-length").and_then(|text| text.parse().ok()),
        range: header("content-range").and_then(parse_content_range),
        validator: etag.or_else(|| header("last-modified")).map(str::to_owned),
        reader: Box::new(response.into_body().into_reader()),
    }
}

/// `bytes 5-9/10` is (5, 10); `bytes 5-9/*` is (5, unknown).
fn parse_content_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let start = range.split_once('-')?.0.parse().ok()?;
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    Some((start, total))
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
            assert_eq!(check_url(plain), Err(UrlError::PlainHttp(shown(plain))));
        }
        for other in ["ftp://example.org/a", "example.org/a", "file:///a", "https:///a", ""] {
            assert_eq!(check_url(other), Err(UrlError::Scheme(shown(other))));
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
}
