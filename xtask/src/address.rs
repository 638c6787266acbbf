//! Addresses as they are shown: whoever reads a terminal, a log, an annotation or a file of the store learns neither password nor token.

/// `address` with `***` in place of user, password, query and fragment.
pub(crate) fn shown(address: &str) -> String {
    let (scheme, user, host, path) = parts(address);
    let hidden = if user.is_empty() { "" } else { "***@" };
    match path.find(['?', '#']) {
        Some(at) => format!("{scheme}{hidden}{host}{}***", &path[..=at]),
        None => format!("{scheme}{hidden}{host}{path}"),
    }
}

/// The name of the file at `address`, which no query is a part of.
pub(crate) fn file(address: &str) -> String {
    let (_, _, _, path) = parts(address);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Scheme, host and port (RFC 6454), for comparisons.
pub(crate) fn origin(address: &str) -> String {
    let (scheme, _, host, _) = parts(address);
    format!("{scheme}{host}").to_ascii_lowercase()
}

/// `https://`, `user:password@`, `host:port` and `/path?query`; a proxy's address may have no scheme.
fn parts(address: &str) -> (&str, &str, &str, &str) {
    let (scheme, rest) = address.split_at(address.find("://").map_or(0, |at| at + 3));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    // A password that is not escaped may hold what ends a host.
    let is_cut = !rest[..end].contains('@') && !is_port_or_none(&rest[..end]);
    let user = if is_cut { rest.rfind('@') } else { rest[..end].rfind('@') }.map_or(0, |at| at + 1);
    let (user, rest) = rest.split_at(user);
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    (scheme, user, host, path)
}

fn is_port_or_none(host: &str) -> bool {
    let port = host.rsplit(']').next().unwrap_or(host).split_once(':').map_or("", |(_, port)| port);
    port.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_tokens_are_not_shown() {
        for (address, expected) in [
            ("https://a.example/x/y.zip", "https://a.example/x/y.zip"),
            ("https://a.example/@scope/y", "https://a.example/@scope/y"),
            ("https://user:SECRET@a.example:80/x", "https://***@a.example:80/x"),
            ("https://SECRET@a.example", "https://***@a.example"),
            ("https://a.example/x?token=SECRET", "https://a.example/x?***"),
            ("https://a.example?SECRET#SECRET", "https://a.example?***"),
            ("https://u:SECRET@[::1]:9/x#SECRET", "https://***@[::1]:9/x#***"),
            ("https://[::1]:9/@x", "https://[::1]:9/@x"),
            ("https://user:SECRET/SECRET@a.example/x", "https://***@a.example/x"),
            ("https://user:SECRET?SECRET@a.example/x", "https://***@a.example/x"),
            ("user:SECRET@proxy:8080", "***@proxy:8080"),
            ("localhost,.corp", "localhost,.corp"),
            ("", ""),
        ] {
            assert_eq!(shown(address), expected);
        }
    }

    #[test]
    fn origins_are_scheme_host_and_port() {
        assert_eq!(origin("https://u:p@A.example:1/x?y"), "https://a.example:1");
        assert_ne!(origin("https://a.example/x"), origin("http://a.example/x"));
        assert_ne!(origin("http://127.0.0.1:1/x"), origin("http://127.0.0.1:2/x"));
    }
}
