//! F: addresses.

use crate::fetch::UrlError;

super::explanations! { UrlError {
    UrlError::PlainHttp(_) => F21 Usage: "An address is plain http.",
        "Only https is allowed, and http for this machine itself.",
        "give the address with https://";
    UrlError::Scheme(_) => F22 Usage: "An address is no web address.",
        "A typing mistake, or a scheme like ftp: or file:.",
        "give an https:// address; a folder is given without a scheme";
} }
