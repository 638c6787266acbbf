//! From an error to what a person reads, what a program reads, and the exit code.

use super::catalogue::{self, DISK_FULL, Explanation, HELD, UNKNOWN};
use super::exit::Exit;
use super::github;
use crate::commands::{MissingPrerequisite, Usage};
use crate::{build, dist, fetch, files, lock, store};
use serde_json::json;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

/// What is said beside the error itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What `doctor --explain` takes.
    pub(crate) code: &'static str,
    /// The exit code.
    pub(crate) exit: Exit,
    /// What to do next, with a command to type where there is one.
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// Looks through the causes; the first that is known decides. A full disk and a held file are known by the system's reason, wherever it is.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        if error.chain().any(is_disk_full) {
            let mend = match Volume::of(error).option() {
                Some(option) => DISK_FULL.mend.replace("--store DIR", option),
                None => "free some space; nothing was changed".to_owned(),
            };
            return Self::new(&DISK_FULL, Some(mend));
        }
        if error.chain().any(is_held_file) {
            return Self::new(&HELD, None);
        }
        let known = |cause| catalogue::of_cause(cause).map(|entry| Self::new(entry, better_hint(cause)));
        error.chain().find_map(known).unwrap_or_else(|| Self::new(&UNKNOWN, None))
    }

    fn new(entry: &'static Explanation, better: Option<String>) -> Self {
        // Who pressed Ctrl-C knows what to do.
        let hint = (entry.exit != Exit::Interrupted).then(|| better.unwrap_or_else(|| entry.mend.to_owned()));
        Self { code: entry.code, exit: entry.exit, hint }
    }
}

/// `error[CODE]:`, `caused by:` lines, a blank line, `hint:`.
pub(super) fn render(error: &anyhow::Error, failure: &Failure, color: bool) -> String {
    let paint = |style: &str, text: &str| match color {
        true => format!("\x1b[1;{style}m{text}\x1b[0m"),
        false => text.to_owned(),
    };
    let mut text = format!("{} {error}\n", paint("31", &format!("error[{}]:", failure.code)));
    for cause in causes(error) {
        let _ = writeln!(text, "caused by: {cause}");
    }
    if let Some(hint) = &failure.hint {
        let _ = write!(text, "\n{} {hint}\n", paint("36", "hint:"));
    }
    text
}

/// Each cause once: a transparent error repeats its own.
fn causes(error: &anyhow::Error) -> Vec<String> {
    let mut texts: Vec<String> = error.chain().map(ToString::to_string).collect();
    texts.dedup();
    texts.split_off(1)
}

/// The same for a program, on one line.
pub(super) fn render_json(error: &anyhow::Error, failure: &Failure) -> String {
    json!({
        "event": "error",
        "schema": super::SCHEMA,
        "code": failure.code,
        "message": error.to_string(),
        "causes": causes(error),
        "hint": failure.hint,
        "exit_code": failure.exit as i32,
    })
    .to_string()
}

/// The same for GitHub Actions, at the lock's line where that is what is wrong.
pub(super) fn annotation(error: &anyhow::Error, failure: &Failure) -> String {
    let mut message: Vec<String> = vec![error.to_string()];
    message.extend(causes(error));
    message.extend(failure.hint.iter().map(|hint| format!("hint: {hint}")));
    let place = error.chain().find_map(|cause| cause.downcast_ref::<lock::Error>()).and_then(lock_place);
    let place = place.map(|(line, column)| ("toolchains.lock", line, column));
    github::annotation(github::Level::Error, &format!("error[{}]", failure.code), place, &message.join("\n"))
}

fn lock_place(error: &lock::Error) -> Option<(usize, usize)> {
    match error {
        lock::Error::Syntax { line, column, .. }
        | lock::Error::Contradiction { line, column, .. }
        | lock::Error::Format { line, column, .. } => Some((*line, *column)),
        _ => None,
    }
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

fn is_held_file(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<files::Error>().is_some_and(|error| {
        matches!(error.verb, "rename" | "remove") && files::is_held(cfg!(windows), &error.source)
    })
}

fn is_disk_full(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref().is_some_and(files::is_disk_full)
}

/// Whose volume is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Volume {
    Temporary,
    Release,
    /// `target` and `artifacts`, which stay where the checkout is.
    Checkout,
    Store,
}

impl Volume {
    fn of(error: &anyhow::Error) -> Self {
        let path = error.chain().find_map(failing_path);
        match () {
            () if path.is_some_and(|path| is_temporary(path, &std::env::temp_dir())) => Self::Temporary,
            () if error.downcast_ref::<dist::Error>().is_some() => Self::Release,
            () if error.downcast_ref::<build::Error>().is_some() => Self::Checkout,
            () => Self::Store,
        }
    }

    /// What moves it to another one.
    fn option(self) -> Option<&'static str> {
        match self {
            Self::Temporary if cfg!(windows) => Some("TMP=DIR"),
            Self::Temporary => Some("TMPDIR=DIR"),
            Self::Release => Some("--out DIR"),
            Self::Checkout => None,
            Self::Store => Some("--store DIR"),
        }
    }
}

/// Whether `path` is below a folder that was made among the temporary files, and not in a store or a checkout that somebody keeps there.
fn is_temporary(path: &Path, temporary: &Path) -> bool {
    let below = path.strip_prefix(temporary).ok().and_then(|below| below.components().next());
    below.is_some_and(|first| first.as_os_str().to_string_lossy().starts_with(".tmp"))
}

/// The path that a cause is about.
fn failing_path<'e>(cause: &'e (dyn Error + 'static)) -> Option<&'e Path> {
    let file = |error: &'e files::Error| error.path.as_path();
    if let Some(error) = cause.downcast_ref::<files::Error>() {
        return Some(file(error));
    }
    if let Some(fetch::Refusal::Write { path, .. }) = cause.downcast_ref() {
        return Some(path);
    }
    // What is transparent is no link of the chain of its own.
    match cause.downcast_ref() {
        Some(fetch::Error::Files(error)) => return Some(file(error)),
        Some(fetch::Error::Io { path, .. }) => return Some(path),
        _ => {}
    }
    match cause.downcast_ref() {
        Some(dist::Error::Files(error)) => return Some(file(error)),
        Some(dist::Error::Archive { path, .. }) => return Some(path),
        _ => {}
    }
    match (cause.downcast_ref(), cause.downcast_ref()) {
        (Some(store::Error::Files(error)), _) | (_, Some(build::Error::Files(error))) => Some(file(error)),
        _ => None,
    }
}

/// The command to type, where this run's names make it a better one than the catalogue's.
fn better_hint(cause: &(dyn Error + 'static)) -> Option<String> {
    if let Some(error) = cause.downcast_ref::<lock::Error>() {
        return match error {
            lock::Error::UnknownToolchain { nearest, .. } => did_you_mean(nearest.as_ref()),
            _ => None,
        };
    }
    if let Some(error) = cause.downcast_ref::<fetch::Error>() {
        return of_fetch(error);
    }
    if let Some(error) = cause.downcast_ref::<Box<fetch::Error>>() {
        return of_fetch(error);
    }
    if let Some(error) = cause.downcast_ref::<store::Error>() {
        return of_store(error);
    }
    if let Some(error) = cause.downcast_ref::<build::Error>() {
        return match error {
            build::Error::UnknownComponent { nearest, .. } | build::Error::NoSource { nearest, .. } => {
                did_you_mean(nearest.as_ref())
            }
            build::Error::CrossBuild { mend, .. } => Some((*mend).to_owned()),
            _ => None,
        };
    }
    if let Some(error) = cause.downcast_ref::<dist::Error>() {
        return of_dist(error);
    }
    if let Some(missing) = cause.downcast_ref::<MissingPrerequisite>() {
        return Some(missing.mend.clone());
    }
    if let Some(error) = cause.downcast_ref::<crate::host::visual_studio::Error>() {
        return Some(error.mend());
    }
    cause.downcast_ref::<Usage>().map(|usage| usage.mend.clone())
}

fn did_you_mean(nearest: Option<&String>) -> Option<String> {
    nearest.map(|name| format!("did you mean `{name}`?"))
}

/// Said of files of the store.
const STORE: &str = "check that the store can be written, or choose another with --store DIR";

fn of_fetch(error: &fetch::Error) -> Option<String> {
    use fetch::Error;
    match error {
        Error::Files(_) => Some(STORE.to_owned()),
        Error::VersionGone { package, newer, .. } => {
            let newer = newer.as_ref().map(|v| format!(" to take {v}")).unwrap_or_default();
            Some(format!("measure the package again{newer}: cargo xtask lock update {package}"))
        }
        Error::AllSources { failures, .. } => failures.last().and_then(|(_, error)| of_fetch(error)),
        _ => None,
    }
}

fn of_store(error: &store::Error) -> Option<String> {
    use store::Error;
    match error {
        Error::Files(_) => Some(STORE.to_owned()),
        Error::Fetch { source, .. } => of_fetch(source),
        Error::PathLength { source, .. } => Some(format!(
            "choose a store whose path is {} characters shorter: --store DIR, e.g. C:\\s",
            source.excess
        )),
        Error::NotInstalled { toolchain, .. } => {
            Some(format!("cargo xtask bootstrap --toolchain {toolchain}"))
        }
        _ => None,
    }
}

fn of_dist(error: &dist::Error) -> Option<String> {
    use dist::Error;
    match error {
        Error::NotBuilt { target, .. } => Some(format!("cargo xtask build --targets {target}")),
        Error::NotPinned { target, .. } => Some(format!(
            "a release is made of pinned bytes: cargo xtask build --targets {target} with a toolchain of the lock"
        )),
        Error::Files(error) if ["create", "write", "rename", "remove"].contains(&error.verb) => {
            Some("check that the folder can be written, or choose another with --out DIR".to_owned())
        }
        Error::Git { root, words } => {
            // git compares the setting with its own spelling of the folder.
            let root = files::forward_slashes(root);
            Some(match words.contains("dubious ownership") {
                true => {
                    format!("let git trust the folder: git config --global --add safe.directory \"{root}\"")
                }
                false => format!("see what git says of the folder: git -C \"{root}\" status"),
            })
        }
        Error::Store(error) => of_store(error),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_below_the_temporary_folder_is_no_temporary_file() {
        let temporary = Path::new("/tmp");
        let is = |path: &str| is_temporary(Path::new(path), temporary);
        assert!(is("/tmp/.tmpAb3/release/strata"));
        assert!(!is("/tmp/store/staging/x") && !is("/src/.tmp/x") && !is("/tmp"));
    }

    #[test]
    fn a_full_disk_is_the_one_that_could_not_be_written() {
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        let hint = |error: anyhow::Error| Failure::of(&error).hint.expect("a hint");
        let temporary = std::env::temp_dir().join(".tmpAb3").join("x");
        let of = |path: &Path| files::Error { verb: "write", path: path.to_owned(), source: full() };
        let option = if cfg!(windows) { "with TMP=DIR;" } else { "with TMPDIR=DIR;" };
        assert!(hint(dist::Error::Files(of(&temporary)).into()).contains(option));
        assert!(hint(store::Error::Files(of(&temporary)).into()).contains(option));
        assert!(hint(dist::Error::Files(of(Path::new("/out/x"))).into()).contains("with --out DIR;"));
        assert!(hint(store::Error::Files(of(Path::new("/store/x"))).into()).contains("with --store DIR;"));
        let checkout = hint(build::Error::Files(of(Path::new("/src/artifacts/x"))).into());
        assert_eq!(checkout, "free some space; nothing was changed");
        let path = temporary.clone();
        let unpacking = fetch::Refusal::Write { verb: "write", path, source: full() };
        let unpacking = fetch::Error::Archive { what: String::new(), source: unpacking };
        assert!(hint(unpacking.into()).contains(option));
    }
}
