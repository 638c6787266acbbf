//! L: toolchains.lock.

use crate::lock::Error;

super::explanations! { Error {
    Error::Read { .. } => L01 Mismatch: "toolchains.lock cannot be read.",
        "xtask was started outside the workspace, or the file may not be read.",
        "run cargo xtask in the workspace; toolchains.lock lies in its root";
    Error::Syntax { .. } => L02 Mismatch: "The lock is not TOML, or has a key or value that its format does not know.",
        "An edit by hand. The message names line and column.",
        "docs/lock-format.md describes every key; `cargo xtask lock add` writes entries";
    Error::Contradiction { .. } => L03 Mismatch: "The lock says two things that do not go together.",
        "A name that is there twice, a toolchain that names a package that is not there, two packages that provide one part.",
        "docs/lock-format.md describes every key; `cargo xtask lock add` writes entries";
    Error::Format { found, expected, .. } if found > expected => L04 Mismatch: "The lock has a newer format than this xtask reads.",
        "The checkout is older than the lock.",
        "update this checkout: a newer xtask wrote the lock";
    Error::Format { .. } => L05 Mismatch: "The lock has an older format than this xtask reads.",
        "The lock is older than the checkout.",
        "docs/lock-format.md has the history of the format";
    Error::UnknownToolchain { .. } => L06 Usage: "The lock has no toolchain of this name for this machine.",
        "A typing mistake, or a toolchain for another host.",
        "`cargo xtask lock show` lists the toolchains";
    Error::TargetNotBuilt { .. } => L07 Usage: "The toolchain cannot build a target that was asked for.",
        "Each dist has the device libraries of its own families.",
        "choose another --toolchain, or leave the target out; `cargo xtask lock show` lists what each builds";
    Error::Locked { .. } => L08 Mismatch: "A command would change the lock, and `--locked` forbids that.",
        "`--locked` was given, as a pipeline should.",
        "run the command again without --locked";
} }
