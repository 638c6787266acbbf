//! Which Rust makes programs for a host on this machine: the one that runs xtask, another one that has the host's standard library, or one that
//! can compile that library from its sources.

use super::Error;
use crate::lock::Host;
use std::path::{Path, PathBuf};
use std::process::Command;

/// mingw-w64's C compiler: what rustc links with, and what the `cc` crate calls.
const MINGW: &str = "x86_64-w64-mingw32-gcc";
/// Where distributions put theirs.
const SYSTEM_CARGO: &str = "/usr/bin/cargo";

/// A cargo with its rustc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rust {
    /// The program.
    pub(super) cargo: PathBuf,
    /// The compiler that it has to take; `None`: its own choice.
    pub(super) rustc: Option<PathBuf>,
    /// Where its standard library's sources lie, when they have to be compiled (`-Zbuild-std`).
    pub(super) std_sources: Option<PathBuf>,
    /// Whether cargo may use only what is on this machine.
    pub(super) is_offline: bool,
    /// What rustc and the linker say they are: goes into the key.
    pub(crate) version: String,
}

/// What is known of a Rust on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    cargo: PathBuf,
    rustc: PathBuf,
    has_std: bool,
    std_sources: Option<PathBuf>,
}

impl Rust {
    /// The Rust of this machine for `host`.
    pub(crate) fn find(host: Host, is_offline: bool) -> Result<Self, Error> {
        let own = std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from);
        if host == Host::THIS {
            let linker = if cfg!(windows) { None } else { first_line(Path::new("cc"), "--version") };
            let version = versions(&rustc_of(&own), linker);
            return Ok(Self { cargo: own, rustc: None, std_sources: None, is_offline, version });
        }
        let candidates = [own, SYSTEM_CARGO.into()].map(|cargo| candidate(cargo, host));
        let linker = first_line(Path::new(MINGW), "--version");
        let (chosen, builds_std) = choose(host, Host::THIS, &candidates, linker.is_some())?;
        Ok(Self {
            cargo: chosen.cargo.clone(),
            rustc: Some(chosen.rustc.clone()),
            std_sources: chosen.std_sources.clone().filter(|_| builds_std),
            is_offline,
            version: versions(&chosen.rustc, linker),
        })
    }
}

/// The first that has the host's standard library, else the first that can compile it, and whether it must.
fn choose(
    host: Host,
    this: Host,
    candidates: &[Candidate],
    has_linker: bool,
) -> Result<(&Candidate, bool), Error> {
    let missing = |what: &'static str, mend: &'static str| Error::CrossBuild { host, what, mend };
    if this != Host::Linux || host != Host::WindowsGnu {
        return Err(missing(
            "this machine cannot link programs for it",
            "on Linux --host x86_64-pc-windows-gnu makes Windows programs; everything else is built on its own system",
        ));
    }
    if !has_linker {
        return Err(missing(
            "there is no x86_64-w64-mingw32-gcc on the PATH",
            "sh prerequisites.sh --windows",
        ));
    }
    let ready = candidates.iter().find(|candidate| candidate.has_std).map(|candidate| (candidate, false));
    let from_sources = || candidates.iter().find(|c| c.std_sources.is_some()).map(|c| (c, true));
    ready.or_else(from_sources).ok_or_else(|| {
        missing(
            "no Rust on this machine has its standard library, or the sources of it",
            "rustup target add x86_64-pc-windows-gnu, or sh prerequisites.sh --windows",
        )
    })
}

fn candidate(cargo: PathBuf, host: Host) -> Candidate {
    let rustc = rustc_of(&cargo);
    let library = first_line(&rustc, "--print=sysroot").map(|root| Path::new(&root).join("lib/rustlib"));
    let below = |path: &str| library.as_ref().map(|library| library.join(path)).filter(|path| path.exists());
    Candidate {
        has_std: below(host.triple()).is_some(),
        std_sources: below("src/rust/library/std/Cargo.toml").and_then(|_| below("src/rust")),
        cargo,
        rustc,
    }
}

fn rustc_of(cargo: &Path) -> PathBuf {
    let beside = cargo.with_file_name(format!("rustc{}", std::env::consts::EXE_SUFFIX));
    if beside.is_file() { beside } else { "rustc".into() }
}

fn versions(rustc: &Path, linker: Option<String>) -> String {
    let rustc = first_line(rustc, "--version").unwrap_or_else(|| "rustc: not found".into());
    [Some(rustc), linker].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn first_line(program: &Path, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok().filter(|o| o.status.success())?;
    String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rust(cargo: &str, has_std: bool, has_sources: bool) -> Candidate {
        let std_sources = has_sources.then(|| "/usr/lib/rustlib/src/rust".into());
        Candidate { cargo: cargo.into(), rustc: "rustc".into(), has_std, std_sources }
    }

    fn chosen(candidates: &[Candidate]) -> Option<(String, bool)> {
        let chosen = choose(Host::WindowsGnu, Host::Linux, candidates, true).ok()?;
        Some((chosen.0.cargo.display().to_string(), chosen.1))
    }

    #[test]
    fn a_standard_library_that_is_there_is_taken_before_sources_are_compiled() {
        let own = |has_std, has_sources| rust("own", has_std, has_sources);
        let system = |has_std, has_sources| rust("system", has_std, has_sources);
        assert_eq!(chosen(&[own(true, true), system(true, true)]), Some(("own".into(), false)));
        assert_eq!(chosen(&[own(false, true), system(true, false)]), Some(("system".into(), false)));
        assert_eq!(chosen(&[own(false, true), system(false, true)]), Some(("own".into(), true)));
        assert_eq!(chosen(&[own(false, false), system(false, true)]), Some(("system".into(), true)));
        assert_eq!(chosen(&[own(false, false), system(false, false)]), None);
    }

    #[test]
    fn what_cannot_be_made_here_is_said_with_what_mends_it() {
        let all = [rust("own", true, true)];
        let none = [rust("own", false, false)];
        let refusal = |host, this, candidates, has_linker| {
            choose(host, this, candidates, has_linker)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        };
        insta::assert_snapshot!(refusal(Host::WindowsMsvc, Host::Linux, &all, true), @"no programs for x86_64-pc-windows-msvc can be built here: this machine cannot link programs for it");
        insta::assert_snapshot!(refusal(Host::Linux, Host::WindowsMsvc, &all, true), @"no programs for x86_64-unknown-linux-gnu can be built here: this machine cannot link programs for it");
        insta::assert_snapshot!(refusal(Host::WindowsGnu, Host::Linux, &all, false), @"no programs for x86_64-pc-windows-gnu can be built here: there is no x86_64-w64-mingw32-gcc on the PATH");
        insta::assert_snapshot!(refusal(Host::WindowsGnu, Host::Linux, &none, true), @"no programs for x86_64-pc-windows-gnu can be built here: no Rust on this machine has its standard library, or the sources of it");
    }
}
