//! F: downloads.

use crate::fetch::Error;

super::explanations! { Error {
    Error::Connect { .. } => F01 Network: "There was no answer: name resolution, connection, TLS or time-out.",
        "No network, a proxy that is not named, a firewall, a server that is down.",
        "check the network and any proxy (HTTPS_PROXY), then run the command again";
    Error::Certificate { .. } => F02 Network: "The server's certificate is signed by nobody whom this machine trusts.",
        "A proxy of the network that opens TLS with its own authority, or somebody in between.",
        "if your network has its own certificate authority, give its file: SSL_CERT_FILE=ca.pem (on Windows and macOS: the system's store); nothing turns the check off";
    Error::Status { status: 403 | 404 | 410, .. } => F03 Network: "The server says that the file is not there.",
        "The publisher moved or removed it; nightly builds do not stay.",
        "the file is not there any more; find its new address and write it with `cargo xtask lock add`";
    Error::Status { .. } => F04 Network: "The server answered with an error.",
        "It is overloaded or being repaired. It was asked several times.",
        "try again later";
    Error::Broken { .. } => F05 Network: "The connection broke while the file came.",
        "The line, a proxy's time limit, the server. What had come is kept.",
        "check the network and any proxy (HTTPS_PROXY), then run the command again";
    Error::Stalled { .. } => F06 Network: "The connection stayed open and nothing came.",
        "The line, or a server that is overloaded. What had come is kept.",
        "check the network and any proxy (HTTPS_PROXY), then run the command again";
    Error::Size { .. } => F07 Mismatch: "The file has another length than the lock says.",
        "The publisher replaced it, a proxy answered in its place, or somebody wants you to have another one.",
        "nothing was installed; if the publisher really changed the file, measure it again with `cargo xtask lock add`";
    Error::Hash { .. } => F08 Mismatch: "The file has another sha256 than the lock says.",
        "The publisher replaced it, it was damaged on the way, or somebody wants you to have another one. It was fetched twice.",
        "nothing was installed; if the publisher really changed the file, measure it again with `cargo xtask lock add`";
    Error::Page { .. } => F09 Network: "A web page came in place of the file.",
        "A login page of the network, or a proxy's error page.",
        "sign in to the network, or name a proxy (HTTPS_PROXY) or a mirror (--mirror URL)";
    Error::Io { .. } => F10 Failed: "A file of the download could not be written or read.",
        "The store's folder: permissions, a removed volume.",
        "check that the store can be written, or choose another with --store DIR";
    Error::NoPip { .. } => F11 Prerequisite: "A package comes by pip, and this machine has none.",
        "Debian installs python3 without pip.",
        "apt-get install python3-pip";
    Error::Pip { .. } => F12 Network: "pip could not download a package.",
        "pip's index cannot be reached, or no longer has the version.",
        "see what pip says of its index: python3 -m pip config list";
    Error::PipOtherFile { .. } => F13 Network: "pip brought another file than the lock names.",
        "The index has a newer build of that version, or another platform was chosen.",
        "see what pip says of its index: python3 -m pip config list";
    Error::NoApt { .. } => F14 Prerequisite: "A package comes by apt, and this machine has none.",
        "The machine has no apt, so it is neither Debian nor one of its relatives.",
        "name a Debian mirror: STRATA_DEBIAN_MIRROR=URL and STRATA_DEBIAN_SECURITY_MIRROR=URL (and install apt and debian-archive-keyring)";
    Error::NoMirror { .. } => F15 Prerequisite: "apt is there and knows no Debian mirror for the package's suite.",
        "The machine is no Debian (Ubuntu has apt, and other suites), or its sources are of another kind.",
        "name a Debian mirror: STRATA_DEBIAN_MIRROR=URL and STRATA_DEBIAN_SECURITY_MIRROR=URL (and install apt and debian-archive-keyring)";
    Error::Apt { .. } => F16 Network: "apt-get ended with an error.",
        "The mirror cannot be reached, or its signature is not accepted.",
        "check the network and the machine's mirror: apt-get update";
    Error::VersionGone { .. } => F17 Network: "Debian's mirror dropped the pinned version.",
        "Mirrors keep one version of each suite; a security update replaced it.",
        "measure the package again: cargo xtask lock update PACKAGE";
    Error::Tree { .. } => F18 Mismatch: "The right archives were unpacked to another tree than the lock says.",
        "This xtask unpacks differently from the one that measured the package.",
        "this xtask unpacks differently from the one that measured it: measure it again with `cargo xtask lock add`";
    Error::Offline { .. } => F19 Network: "`--offline` was given and something is neither in the store nor in a mirror.",
        "The machine without a network was not given everything.",
        "on a machine with a network: cargo xtask mirror --out DIR; then here: --offline --mirror DIR";
    Error::Interrupted => F20 Interrupted: "The download was interrupted.",
        "Ctrl-C, SIGTERM or SIGHUP. What had come is kept.",
        "run the command again: it goes on where it stopped";
} else {
    Error::Url(error) => super::url::explain(error);
    Error::Redirect(error) => super::redirect::explain(error);
    Error::Archive { source, .. } => super::archive::explain(source);
    Error::Files(_) => &super::machine::FILES;
    // The last source decides: the others are named in the message.
    Error::AllSources { failures, .. } => failures.last().map_or(&super::machine::UNKNOWN, |(_, error)| explain(error));
} }
