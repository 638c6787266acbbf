//! A panic is a bug report: what a maintainer needs, and no private path.

use super::catalogue::BUG;
use crate::digest::Sha256;
use crate::files;
use serde_json::json;
use std::path::{Path, PathBuf};

/// What is known about a panic.
#[derive(Debug)]
struct Report {
    /// The panic's own words.
    what: String,
    /// File, line and column.
    at: String,
    /// `main`, or a worker.
    thread: String,
    /// Of the lock that lies in the workspace.
    lock: Option<Sha256>,
    /// The command, without its arguments.
    command: String,
}

/// From now on a panic prints a report. RUST_BACKTRACE adds Rust's own words.
pub(crate) fn install(root: PathBuf, command: &str, is_json: bool) {
    let command = command.to_owned();
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let places = places(&root);
        let shown = |text: &str| files::with_places(text, &places);
        let report = Report {
            what: shown(words(panic)),
            at: panic.location().map_or_else(|| "unknown".to_owned(), |at| shown(&at.to_string())),
            thread: std::thread::current().name().unwrap_or("worker").to_owned(),
            lock: std::fs::read(root.join("toolchains.lock")).ok().map(|bytes| Sha256::of(&bytes)),
            command: command.clone(),
        };
        match is_json {
            true => super::print_stdout(&report.json()),
            false => super::print_stderr(&report.text()),
        }
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            usual(panic);
        }
    }));
    #[cfg(debug_assertions)]
    if let Ok(words) = std::env::var("STRATA_PANIC") {
        panic!("{words}");
    }
}

/// `panic!` with one word carries a `&str`, with arguments a `String`.
fn words<'p>(panic: &'p std::panic::PanicHookInfo) -> &'p str {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words")
}

impl Report {
    fn system() -> String {
        format!("{} {}", std::env::consts::ARCH, std::env::consts::OS)
    }

    fn text(&self) -> String {
        let Self { what, at, thread, command, .. } = self;
        let (version, system) = (env!("CARGO_PKG_VERSION"), Self::system());
        let lock = self.lock.map_or_else(|| "none".to_owned(), |digest| digest.to_string());
        format!(
            "error[{}]: xtask has a defect: {what}\n  at       {at}\n  thread   {thread}\n  command  {command}\n  version  {version} ({system})\n  lock     {lock}\n\nhint: {}",
            BUG.code, BUG.mend
        )
    }

    fn json(&self) -> String {
        json!({
            "event": "error",
            "schema": super::SCHEMA,
            "code": BUG.code,
            "message": format!("xtask has a defect: {}", self.what),
            "causes": [],
            "hint": BUG.mend,
            "exit_code": BUG.exit as i32,
            "bug": {
                "at": self.at, "thread": self.thread, "command": self.command,
                "version": env!("CARGO_PKG_VERSION"), "system": Self::system(), "lock": self.lock,
            },
        })
        .to_string()
    }
}

/// Folders of this machine, and what is written in their place.
fn places(root: &Path) -> Vec<(String, &'static str)> {
    let variable = |name| std::env::var(name).ok();
    let folders = [
        (Some(root.display().to_string()), "<workspace>"),
        (std::env::current_dir().ok().map(|path| path.display().to_string()), "<here>"),
        (variable("STRATA_STORE"), "<store>"),
        (Some(std::env::temp_dir().display().to_string()), "<temp>"),
        (variable("HOME"), "<home>"),
        (variable("USERPROFILE"), "<home>"),
    ];
    folders.into_iter().filter_map(|(folder, place)| Some((folder?, place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_no_path_of_the_machine() {
        let places = [
            ("/home/jo".to_owned(), "<home>"),
            ("/home/jo/work".to_owned(), "<workspace>"),
            ("/".to_owned(), "<root>"),
            (String::new(), "<nothing>"),
        ];
        let text = "no `/home/jo/work/store` and no /home/jo/.cargo/x.rs:3:1, but /usr";
        assert_eq!(
            files::with_places(text, &places),
            "no `<workspace>/store` and no <home>/.cargo/x.rs:3:1, but /usr"
        );
    }
}
