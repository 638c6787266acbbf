//! Which addresses are asked, and how.

use super::{Error, UrlError};
use std::io::Read;
use std::time::Duration;

const CONNECT: Duration = Duration::from_secs(15);
const FIRST_BYTE: Duration = Duration::from_secs(60);

/// A body that has begun to come.
pub(super) struct Body {
    /// What the server says about its length.
    pub(super) length: Option<u64>,
    /// The bytes as they are on the wire: no content coding is undone, since the hash is of the file.
    pub(super) reader: Box<dyn Read + Send>,
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

/// Asks for `url`; follows redirects, but never from https to http.
pub(super) fn get(url: &str) -> Result<Body, Error> {
    check_url(url)?;
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
    let refused = |error: ureq::Error| Error::Connect { url: url.to_owned(), reason: error.to_string() };
    let response = ureq::Agent::new_with_config(config)
        .get(url)
        .header("Accept-Encoding", "identity")
        .call()
        .map_err(refused)?;
    let status = response.status().as_u16();
    if status != 200 {
        return Err(Error::Status { url: url.to_owned(), status });
    }
    let length = response.headers().get("content-length").and_then(|v| v.to_str().ok()?.parse().ok());
    Ok(Body { length, reader: Box::new(response.into_body().into_reader()) })
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
}
