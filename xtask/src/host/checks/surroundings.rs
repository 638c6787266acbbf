//! Disks, path lengths, variables and proxies.

use super::Check;
use super::toolchain::unset;
use crate::address::shown;
use crate::host::machine::{Machine, Volume};
use crate::lock::Host;
use crate::store::LONGEST_ON_WINDOWS as MAX_PATH;
use crate::ui::human_bytes;

/// Below this a build of all targets may not fit.
const SMALL: u64 = 2_000_000_000;
/// They never reach a compiler (docs/architecture.md, "The environment of children").
const IGNORED: [&str; 12] = [
    "HIP_PATH",
    "ROCM_PATH",
    "HIP_DEVICE_LIB_PATH",
    "HIP_PLATFORM",
    "HIPCC_",
    "CL",
    "_CL_",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "CXXFLAGS",
    "CFLAGS",
];
/// They change what a program sees of the GPUs.
const AT_RUN_TIME: [&str; 5] = [
    "HSA_OVERRIDE_GFX_VERSION",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "CUDA_VISIBLE_DEVICES",
];
const PROXIES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    let mut checks: Vec<Check> = machine.volumes.iter().map(volume).collect();
    checks.extend([path_length(machine), long_paths(machine), page_file(machine)]);
    checks.extend(variables(machine));
    checks.extend(proxies(machine));
    checks
}

fn volume(volume: &Volume) -> Check {
    let place = format!("for {} at `{}`", volume.what, volume.path.display());
    let Some(free) = volume.free else {
        return Check::ok("disk", format!("free space is not known {place}"));
    };
    let what = format!("{} free {place}", human_bytes(free));
    let mend = format!("free some space, or choose another volume with {}", volume.option);
    match free {
        _ if free < volume.needed => {
            Check::problem("disk", format!("{what}, about {} are needed", human_bytes(volume.needed)), mend)
        }
        _ if free < SMALL => {
            Check::warning("disk", format!("{what}, which may not be enough for a build"), mend)
        }
        _ => Check::ok("disk", what),
    }
}

fn path_length(machine: &Machine) -> Check {
    match (machine.host, machine.longest_path) {
        (Host::Linux, _) => Check::ok("path", "path lengths: this system has no limit that matters"),
        (_, None) => Check::ok("path", "path lengths: the toolchain's are not known before it is installed"),
        (_, Some(length)) if length > MAX_PATH => Check::problem(
            "path",
            format!(
                "path lengths: the store's longest would have {length} characters, {MAX_PATH} are possible"
            ),
            format!("choose a store whose path is {} characters shorter: --store C:\\s", length - MAX_PATH),
        ),
        (_, Some(length)) => Check::ok(
            "path",
            format!("path lengths: the store's longest has {length} of {MAX_PATH} characters"),
        ),
    }
}

/// Windows promises no more memory than RAM and page file hold, and a card's counts (strata#60).
fn page_file(machine: &Machine) -> Check {
    match machine.page_file {
        None => Check::ok("memory", "page file: this system needs none"),
        Some(true) => Check::ok("memory", "page file: there is one"),
        Some(false) => Check::warning(
            "memory",
            "page file: there is none, so Windows may refuse memory of a card that has some left",
            "Set-CimInstance -Query 'SELECT * FROM Win32_ComputerSystem' -Property @{AutomaticManagedPagefile=$true}",
        ),
    }
}

fn long_paths(machine: &Machine) -> Check {
    match machine.long_paths {
        None => Check::ok("path", "long paths: this system always has them"),
        Some(true) => Check::ok("path", "long paths: switched on"),
        Some(false) => Check::warning(
            "path",
            "long paths: switched off, so a deep build folder may fail",
            r"reg add HKLM\SYSTEM\CurrentControlSet\Control\FileSystem /v LongPathsEnabled /t REG_DWORD /d 1 /f",
        ),
    }
}

fn variables(machine: &Machine) -> Vec<Check> {
    let is_named = |name: &str, known: &str| match known.ends_with('_') || known == "HIP_PATH" {
        // HIP_PATH_57 and its like, HIPCC_COMPILE_FLAGS_APPEND.
        true => {
            name == known
                || name.starts_with(known) && (known.ends_with('_') || name[known.len()..].starts_with('_'))
        }
        false => name == known,
    };
    let mut checks = Vec::new();
    for (name, value) in machine.variables.iter().filter(|(_, value)| !value.is_empty()) {
        let upper = name.to_uppercase();
        if AT_RUN_TIME.contains(&upper.as_str()) {
            let what = format!("{name}={value} changes which GPU, or which code for it, a program takes");
            checks.push(Check::warning("variable", what, unset(machine.host, name)));
        } else if IGNORED.iter().any(|known| is_named(&upper, known)) {
            checks.push(Check::ok("variable", format!("{name} is set: builds do not see it")));
        }
    }
    if checks.is_empty() {
        checks.push(Check::ok("variable", "no variable of the environment changes a build or a run"));
    }
    checks
}

fn proxies(machine: &Machine) -> Vec<Check> {
    let mut checks = Vec::new();
    for (name, value) in machine.variables.iter().filter(|(_, value)| !value.is_empty()) {
        let upper = name.to_uppercase();
        if !PROXIES.contains(&upper.as_str()) {
            continue;
        }
        let is_address = upper == "NO_PROXY"
            || ["http://", "https://", "socks5://", "socks5h://", "socks4://"]
                .iter()
                .any(|scheme| value.starts_with(scheme))
            || !value.contains("://");
        checks.push(match is_address {
            true => Check::ok("proxy", format!("{name}={}", shown(value))),
            false => Check::warning(
                "proxy",
                format!("{name}={} is no proxy's address", shown(value)),
                unset(machine.host, name),
            ),
        });
    }
    if checks.is_empty() {
        checks.push(Check::ok("proxy", "no proxy is set: downloads go to their servers directly"));
    }
    checks
}
