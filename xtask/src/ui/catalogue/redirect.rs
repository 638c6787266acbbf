//! F: redirects.

use crate::fetch::RedirectError;

super::explanations! { RedirectError {
    RedirectError::Downgrade { .. } => F23 Network: "A server sends away from https.",
        "A misconfigured server, or somebody in between.",
        "find the file's address of today and write it with `cargo xtask lock add`, or name a mirror: --mirror URL";
    RedirectError::Forbidden { .. } => F24 Network: "A server sends to an address that is never asked.",
        "A misconfigured server, or somebody in between.",
        "find the file's address of today and write it with `cargo xtask lock add`, or name a mirror: --mirror URL";
    RedirectError::Nowhere { .. } => F25 Network: "A server sends to nowhere.",
        "A misconfigured server.",
        "find the file's address of today and write it with `cargo xtask lock add`, or name a mirror: --mirror URL";
    RedirectError::TooMany { .. } => F26 Network: "Redirects do not end.",
        "A misconfigured server; often one that wants a cookie.",
        "find the file's address of today and write it with `cargo xtask lock add`, or name a mirror: --mirror URL";
} }
