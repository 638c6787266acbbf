//! Toolchains of the lock, SDKs beside them, and the programs that they leave to the machine.

use super::Check;
use crate::host::machine::{Machine, Needed, State};
use crate::host::sdk::Refusal;
use crate::lock::{Host, SYSTEM};
use crate::ui::human_bytes;

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    let (chosen, others): (Vec<_>, Vec<_>) =
        machine.toolchains.iter().partition(|toolchain| toolchain.name == machine.chosen);
    // Before the toolchain, which cannot be fetched without.
    let hindrances = machine.hindrances.iter();
    let mut checks: Vec<Check> =
        hindrances.map(|found| Check::problem("program", &found.what, &found.mend)).collect();
    for toolchain in chosen {
        let label = format!("toolchain {} (ROCm {})", toolchain.name, toolchain.rocm);
        let bootstrap = format!("cargo xtask bootstrap --toolchain {}", toolchain.name);
        checks.push(match &toolchain.state {
            State::Installed(packages) => {
                Check::ok("toolchain", format!("{label}: pinned, installed, {packages} packages"))
            }
            State::Missing(what, bytes) => {
                let size =
                    if *bytes > 0 { format!(", {} to download", human_bytes(*bytes)) } else { String::new() };
                Check::problem("toolchain", format!("{label}: not installed: {what}{size}"), bootstrap)
            }
            State::Broken(why) => broken(&label, why, true),
        });
    }
    for toolchain in others {
        let label = format!("toolchain {} (ROCm {})", toolchain.name, toolchain.rocm);
        match &toolchain.state {
            State::Installed(_) => {
                checks.push(Check::ok("toolchain", format!("{label}: pinned, installed, not chosen")));
            }
            State::Broken(why) => checks.push(broken(&label, why, false)),
            State::Missing(..) => {}
        }
    }
    checks.extend(sdks(machine));
    checks
}

fn broken(label: &str, why: &str, is_chosen: bool) -> Check {
    let (what, mend) = (format!("{label}: broken: {why}"), "cargo xtask store verify --repair");
    if is_chosen { Check::problem("toolchain", what, mend) } else { Check::warning("toolchain", what, mend) }
}

fn sdks(machine: &Machine) -> Vec<Check> {
    let is_asked = machine.chosen == SYSTEM;
    let mut used = false;
    let mut checks = Vec::new();
    for candidate in &machine.sdks {
        let place = format!("`{}` ({})", candidate.path.display(), candidate.origin);
        checks.push(match &candidate.verdict {
            Ok(sdk) => {
                let first = !std::mem::replace(&mut used, true);
                let role = match (first, is_asked) {
                    (true, true) => "used, not pinned",
                    _ if candidate.is_pinned() => "pinned, used by its toolchain's name",
                    (true, false) => "not pinned, used only with --toolchain system",
                    (false, _) => "not used",
                };
                Check::ok("sdk", format!("SDK {} at {place}: {role}", sdk.version))
            }
            Err(refusal) => {
                let is_variable = candidate.origin.chars().all(|c| c.is_ascii_uppercase() || c == '_');
                let mend = match (is_variable, refusal) {
                    _ if candidate.is_pinned() => "cargo xtask store verify --repair".to_owned(),
                    (true, _) => unset(machine.host, &candidate.origin),
                    (false, Refusal::Incomplete(_)) => {
                        "uninstall the rest of it, or install it again".to_owned()
                    }
                    (false, _) => "remove the folder".to_owned(),
                };
                Check::warning("sdk", format!("no SDK at {place}: {refusal}"), mend)
            }
        });
    }
    if is_asked && !used {
        let what = "toolchain system: this machine has no ROCm or HIP SDK that can compile";
        checks.push(Check::problem(
            "sdk",
            what,
            "cargo xtask bootstrap --toolchain NAME; `cargo xtask lock show` has the names",
        ));
    } else if checks.is_empty() {
        checks.push(Check::ok("sdk", "no ROCm or HIP SDK outside the store; none is needed"));
    }
    checks
}

/// The command that unsets a variable in the system's usual shell.
pub(super) fn unset(host: Host, name: &str) -> String {
    match host {
        Host::Linux => format!("unset {name}"),
        Host::WindowsMsvc | Host::WindowsGnu => format!("Remove-Item Env:{name}"),
    }
}

pub(super) fn programs(machine: &Machine) -> Vec<Check> {
    machine.programs.iter().map(program).collect()
}

fn program(needed: &Needed) -> Check {
    let Needed { name, minimum: [major, minor], .. } = needed;
    let found = needed.found.as_ref().map(|p| (p, format!("{name} {} at `{}`", p.version, p.path.display())));
    match (&needed.purpose, found) {
        (None, Some((_, place))) => Check::ok("program", format!("{place}: not used")),
        (None, None) => Check::ok("program", format!("no {name} on the PATH: none is needed")),
        (Some(purpose), Some((program, place))) if program.is_new_enough => {
            Check::ok("program", format!("{place}: {purpose}"))
        }
        (Some(purpose), Some((_, place))) => {
            let what = format!("{place} is too old: {major}.{minor} or later is needed, {purpose}");
            Check::problem("program", what, needed.install)
        }
        (Some(purpose), None) => {
            let what = format!("no {name} on the PATH: {major}.{minor} or later is needed, {purpose}");
            Check::problem("program", what, needed.install)
        }
    }
}
