//! From an error to what a person reads, what a program reads, and the exit code.

use crate::commands::{CheckError, MissingPrerequisite, NativeError};
use crate::{build, dist, fetch, files, lock, store};
use serde_json::json;
use std::error::Error;
use std::fmt::Write;

/// The exit codes (docs/architecture.md, "Exit codes").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Anything without a code of its own.
    Failed = 1,
    /// What the user typed does not make sense.
    Usage = 2,
    /// A hash or the lock does not match.
    Mismatch = 3,
    /// The network.
    Network = 4,
    /// No space.
    NoSpace = 5,
    /// Something that has to be there first is not.
    Prerequisite = 6,
    /// Ctrl-C.
    Interrupted = 130,
}

/// What is said beside the error itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) exit: Exit,
    /// What to do next, with a command to type where there is one.
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// Looks through the causes; the first that knows decides.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        if error.chain().any(is_disk_full) {
            let option = if error.downcast_ref::<dist::Error>().is_some() { "--out" } else { "--store" };
            let hint =
                format!("free some space, or choose another volume with {option} DIR; nothing was changed");
            return Self::new(Exit::NoSpace, hint);
        }
        if error.chain().any(is_held_file) {
            return Self::new(Exit::Failed, HELD);
        }
        error.chain().find_map(judge).unwrap_or(Self { exit: Exit::Failed, hint: None })
    }

    fn new(exit: Exit, hint: impl Into<String>) -> Self {
        Self { exit, hint: Some(hint.into()) }
    }

    fn plain(exit: Exit) -> Self {
        Self { exit, hint: None }
    }
}

/// `error:`, `caused by:` lines, a blank line, `hint:`.
pub(crate) fn render(error: &anyhow::Error, failure: &Failure, color: bool) -> String {
    let paint = |style: &str, text: &str| match color {
        true => format!("\x1b[1;{style}m{text}\x1b[0m"),
        false => text.to_owned(),
    };
    let mut text = format!("{} {error}\n", paint("31", "error:"));
    let mut last = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // A transparent error repeats its cause.
        if cause != last {
            let _ = writeln!(text, "caused by: {cause}");
        }
        last = cause;
    }
    if let Some(hint) = &failure.hint {
        let _ = write!(text, "\n{} {hint}\n", paint("36", "hint:"));
    }
    text
}

/// The same for a program, on one line.
pub(crate) fn render_json(error: &anyhow::Error, failure: &Failure) -> String {
    let causes: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
    json!({
        "event": "error",
        "schema": super::SCHEMA,
        "message": error.to_string(),
        "causes": causes,
        "hint": failure.hint,
        "exit_code": failure.exit as i32,
    })
    .to_string()
}

/// An error with its causes, on one line, each once.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Said on Windows when a file could not be renamed or removed for half a minute.
const HELD: &str = "another program holds the file, most likely an antivirus that scans it: close it, or exclude the store's folder from scanning, then run the command again; nothing was lost";

fn is_held_file(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<files::Error>().is_some_and(|error| {
        matches!(error.verb, "rename" | "remove") && files::is_held(cfg!(windows), &error.source)
    })
}

fn is_disk_full(cause: &(dyn Error + 'static)) -> bool {
    let is_full = |error: &std::io::Error| {
        matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
    };
    cause.downcast_ref::<std::io::Error>().is_some_and(is_full)
}

fn judge(cause: &(dyn Error + 'static)) -> Option<Failure> {
    if let Some(error) = cause.downcast_ref::<lock::Error>() {
        return Some(of_lock(error));
    }
    if let Some(error) = cause.downcast_ref::<fetch::Error>() {
        return Some(of_fetch(error));
    }
    // A box of the same: thiserror's `source` of a Box hands out the box.
    if let Some(error) = cause.downcast_ref::<Box<fetch::Error>>() {
        return Some(of_fetch(error));
    }
    if let Some(error) = cause.downcast_ref::<store::Error>() {
        return of_store(error);
    }
    if let Some(error) = cause.downcast_ref::<build::Error>() {
        return of_build(error);
    }
    if let Some(error) = cause.downcast_ref::<dist::Error>() {
        return of_dist(error);
    }
    if let Some(error) = cause.downcast_ref::<CheckError>() {
        return Some(match error {
            CheckError::Wrong { .. } => Failure::new(
                Exit::Mismatch,
                "do not install from these sources; if a publisher really changed a file, `cargo xtask lock update NAME` measures it again",
            ),
            CheckError::Unasked { .. } => Failure::new(
                Exit::Network,
                "check the network and any proxy (HTTPS_PROXY), then run the command again",
            ),
        });
    }
    if let Some(missing) = cause.downcast_ref::<MissingPrerequisite>() {
        return Some(Failure::new(Exit::Prerequisite, missing.mend.clone()));
    }
    if let Some(error) = cause.downcast_ref::<crate::host::visual_studio::Error>() {
        return Some(Failure::new(Exit::Prerequisite, error.mend()));
    }
    if let Some(error) = cause.downcast_ref::<gfx::SelectionError<NativeError>>() {
        return Some(match error {
            gfx::SelectionError::Native(_) => Failure::new(
                Exit::Prerequisite,
                "name the targets, e.g. --targets gfx1201; `cargo xtask doctor` lists what this machine has",
            ),
            _ => Failure::plain(Exit::Usage),
        });
    }
    if cause.is::<gfx::ParseError>() {
        return Some(Failure::plain(Exit::Usage));
    }
    if cause.is::<fetch::UrlError>() {
        return Some(Failure::plain(Exit::Usage));
    }
    None
}

fn did_you_mean(nearest: Option<&String>, otherwise: &str) -> String {
    nearest.map_or_else(|| otherwise.to_owned(), |name| format!("did you mean `{name}`?"))
}

fn of_lock(error: &lock::Error) -> Failure {
    match error {
        lock::Error::Read { .. } => {
            Failure::new(Exit::Mismatch, "run cargo xtask in the workspace; toolchains.lock lies in its root")
        }
        lock::Error::Syntax { .. } | lock::Error::Contradiction { .. } => Failure::new(
            Exit::Mismatch,
            "docs/lock-format.md describes every key; `cargo xtask lock add` writes entries",
        ),
        lock::Error::Format { found, expected, .. } if found > expected => {
            Failure::new(Exit::Mismatch, "update this checkout: a newer xtask wrote the lock")
        }
        lock::Error::Format { .. } => {
            Failure::new(Exit::Mismatch, "docs/lock-format.md has the history of the format")
        }
        lock::Error::UnknownToolchain { nearest, .. } => Failure::new(
            Exit::Usage,
            did_you_mean(nearest.as_ref(), "`cargo xtask lock show` lists the toolchains"),
        ),
        lock::Error::TargetNotBuilt { .. } => Failure::new(
            Exit::Usage,
            "choose another --toolchain, or leave the target out; `cargo xtask lock show` lists what each builds",
        ),
        lock::Error::Locked { .. } => Failure::new(Exit::Mismatch, "run the command again without --locked"),
    }
}

fn of_fetch(error: &fetch::Error) -> Failure {
    use fetch::Error;
    match error {
        Error::Interrupted => Failure::plain(Exit::Interrupted),
        Error::Url(_) => Failure::plain(Exit::Usage),
        Error::Certificate { .. } => Failure::new(
            Exit::Network,
            "if your network has its own certificate authority, give its file: SSL_CERT_FILE=ca.pem (on Windows and macOS: the system's store); nothing turns the check off",
        ),
        Error::Redirect(_) => Failure::new(
            Exit::Network,
            "find the file's address of today and write it with `cargo xtask lock add`, or name a mirror: --mirror URL",
        ),
        Error::Connect { .. } | Error::Broken { .. } | Error::Stalled { .. } => Failure::new(
            Exit::Network,
            "check the network and any proxy (HTTPS_PROXY), then run the command again",
        ),
        Error::Status { status: 403 | 404 | 410, .. } => Failure::new(
            Exit::Network,
            "the file is not there any more; find its new address and write it with `cargo xtask lock add`",
        ),
        Error::Status { .. } => Failure::new(Exit::Network, "try again later"),
        Error::Files(_) => Failure::new(
            Exit::Failed,
            "check that the store can be written, or choose another with --store DIR",
        ),
        Error::Tree { .. } => Failure::new(
            Exit::Mismatch,
            "this xtask unpacks differently from the one that measured it: measure it again with `cargo xtask lock add`",
        ),
        Error::Page { .. } => Failure::new(
            Exit::Network,
            "sign in to the network, or name a proxy (HTTPS_PROXY) or a mirror (--mirror URL)",
        ),
        Error::Offline { .. } => Failure::new(
            Exit::Network,
            "on a machine with a network: cargo xtask mirror --out DIR; then here: --offline --mirror DIR",
        ),
        Error::Size { .. } | Error::Hash { .. } => Failure::new(
            Exit::Mismatch,
            "nothing was installed; if the publisher really changed the file, measure it again with `cargo xtask lock add`",
        ),
        Error::Archive { .. } => Failure::new(
            Exit::Failed,
            "the bytes are those of the lock, so another version of the package is needed",
        ),
        Error::Io { .. } => Failure::new(
            Exit::Failed,
            "check that the store can be written, or choose another with --store DIR",
        ),
        Error::NoPip { .. } => Failure::new(Exit::Prerequisite, "apt-get install python3-pip"),
        Error::Pip { .. } | Error::PipOtherFile { .. } => {
            Failure::new(Exit::Network, "see what pip says of its index: python3 -m pip config list")
        }
        Error::NoApt { .. } | Error::NoMirror { .. } => Failure::new(
            Exit::Prerequisite,
            "name a Debian mirror: STRATA_DEBIAN_MIRROR=URL and STRATA_DEBIAN_SECURITY_MIRROR=URL (and install apt and debian-archive-keyring)",
        ),
        Error::Apt { .. } => {
            Failure::new(Exit::Network, "check the network and the machine's mirror: apt-get update")
        }
        Error::VersionGone { package, newer, .. } => {
            let newer = newer.as_ref().map(|v| format!(" to take {v}")).unwrap_or_default();
            Failure::new(
                Exit::Network,
                format!("measure the package again{newer}: cargo xtask lock update {package}"),
            )
        }
        Error::AllSources { failures, .. } => {
            failures.last().map_or(Failure::plain(Exit::Network), |(_, error)| of_fetch(error))
        }
    }
}

fn of_store(error: &store::Error) -> Option<Failure> {
    use store::Error;
    match error {
        Error::Files(_) => Some(Failure::new(
            Exit::Failed,
            "check that the store can be written, or choose another with --store DIR",
        )),
        // The reason inside decides.
        Error::Fetch { .. } => None,
        Error::NoSpace { .. } => {
            Some(Failure::new(Exit::NoSpace, "free some space, or choose another volume with --store DIR"))
        }
        Error::Layout { .. } => Some(Failure::new(
            Exit::Failed,
            "the archive has another layout than any known one; nothing was installed",
        )),
        Error::Version { .. } => Some(Failure::new(
            Exit::Mismatch,
            "the lock names another release than the archive holds: mend the version, or measure the right archive with `cargo xtask lock add`",
        )),
        Error::PathLength { source, .. } => Some(Failure::new(
            Exit::Failed,
            format!(
                "choose a store whose path is {} characters shorter: --store DIR, e.g. C:\\s",
                source.excess
            ),
        )),
        Error::Damaged { path, .. } => {
            let entry = path.parent().map(|entry| entry.display().to_string()).unwrap_or_default();
            Some(Failure::new(Exit::Mismatch, format!("remove `{entry}` and run cargo xtask bootstrap")))
        }
        Error::NotInstalled { toolchain, .. } => {
            Some(Failure::new(Exit::Prerequisite, format!("cargo xtask bootstrap --toolchain {toolchain}")))
        }
        Error::OtherHost { .. } => {
            Some(Failure::new(Exit::Usage, "`cargo xtask lock show` lists the toolchains and their hosts"))
        }
        Error::Interrupted => Some(Failure::plain(Exit::Interrupted)),
    }
}

fn of_build(error: &build::Error) -> Option<Failure> {
    use build::Error;
    match error {
        Error::UnknownComponent { nearest, .. } => Some(Failure::new(
            Exit::Usage,
            did_you_mean(nearest.as_ref(), "leave --component out to build all"),
        )),
        Error::NoProject { .. } => Some(Failure::new(
            Exit::Usage,
            "write one beside the project's CMakeLists.txt: name = \"…\" and version = \"…\" are enough (docs/architecture.md, \"Projects of others\")",
        )),
        Error::Project { .. } => Some(Failure::plain(Exit::Usage)),
        Error::MissingPart { .. } => {
            Some(Failure::new(Exit::Prerequisite, "`cargo xtask lock show` lists what each toolchain has"))
        }
        Error::DamagedToolchain { .. } => Some(Failure::new(
            Exit::Mismatch,
            "cargo xtask store verify names every difference; remove the entry and run cargo xtask bootstrap",
        )),
        Error::CrossBuild { mend, .. } => Some(Failure::new(Exit::Prerequisite, *mend)),
        Error::Interrupted => Some(Failure::plain(Exit::Interrupted)),
        Error::Start { .. } => Some(Failure::new(
            Exit::Prerequisite,
            "cargo xtask store verify tells whether the toolchain is whole",
        )),
        _ => Some(Failure::plain(Exit::Failed)),
    }
}

fn of_dist(error: &dist::Error) -> Option<Failure> {
    use dist::Error;
    match error {
        Error::NotBuilt { target, .. } => {
            Some(Failure::new(Exit::Prerequisite, format!("cargo xtask build --targets {target}")))
        }
        Error::NotPinned { target, .. } => Some(Failure::new(
            Exit::Prerequisite,
            format!(
                "a release is made of pinned bytes: cargo xtask build --targets {target} with a toolchain of the lock"
            ),
        )),
        Error::Changed { .. } | Error::Differs { .. } | Error::Sums { .. } | Error::Unpack { .. } => {
            Some(Failure::new(
                Exit::Mismatch,
                "somebody changed a file after it was recorded: build or download it again",
            ))
        }
        Error::Mixed { .. } => {
            Some(Failure::new(Exit::Mismatch, "build all components again: cargo xtask build"))
        }
        Error::NothingToVerify { .. } => Some(Failure::plain(Exit::Usage)),
        Error::Files(error) if ["create", "write", "rename", "remove"].contains(&error.verb) => {
            Some(Failure::new(
                Exit::Failed,
                "check that the folder can be written, or choose another with --out DIR",
            ))
        }
        Error::Files(_) => Some(Failure::plain(Exit::Failed)),
        Error::Closure { .. } => Some(Failure::new(
            Exit::Failed,
            "no zip was written; docs/release.md (\"Import closure\") tells where libraries are looked for",
        )),
        Error::Kernels { .. } => Some(Failure::new(
            Exit::Failed,
            "no zip was written; choose a toolchain that has the target (cargo xtask lock show), or leave the target out",
        )),
        Error::Redistributable { .. } => Some(Failure::new(
            Exit::Usage,
            "it is VC\\Redist\\MSVC\\<version> in the folder of Visual Studio",
        )),
        Error::Crates(_) => {
            Some(Failure::new(Exit::Failed, "run `cargo metadata --locked` to see what it says"))
        }
        Error::SigningKey { .. } => Some(Failure::new(
            Exit::Usage,
            "it is made with `minisign -G`; a key with a password needs STRATA_MINISIGN_PASSWORD",
        )),
        Error::PublicKey { .. } => {
            Some(Failure::new(Exit::Usage, "it is the second line of minisign.pub, or that file"))
        }
        Error::Unsigned { .. } | Error::Signature { .. } | Error::Unlisted { .. } => Some(Failure::new(
            Exit::Mismatch,
            "do not use the release; download SHA256SUMS, SHA256SUMS.minisig and the zip again from the publisher",
        )),
        Error::NothingToMerge { .. } => Some(Failure::plain(Exit::Usage)),
        Error::OtherHost { .. } => Some(Failure::new(
            Exit::Usage,
            "run cargo xtask dist on that machine and give --merge the folder with its zips",
        )),
        Error::NotReproducible { .. } => Some(Failure::new(
            Exit::Mismatch,
            "docs/release.md (\"Reproducible builds\") tells what usually is the reason",
        )),
        Error::Interrupted => Some(Failure::plain(Exit::Interrupted)),
        _ => Some(Failure::plain(Exit::Failed)),
    }
}
