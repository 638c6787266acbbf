//! What the operating system owns.

use crate::lock::Host;

/// A versioned list of names, each with a reason.
#[derive(Debug, Clone)]
pub(crate) struct System {
    entries: Vec<(&'static str, &'static str)>,
}

impl System {
    /// The list for programs of `host`.
    pub(crate) fn of(host: Host) -> Self {
        let text = match host {
            Host::Linux => include_str!("system-linux.txt"),
            Host::WindowsMsvc | Host::WindowsGnu => include_str!("system-windows.txt"),
        };
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self { entries: lines.filter_map(|line| line.split_once(' ')).map(|(a, b)| (a, b.trim())).collect() }
    }

    /// Why the system owns `name`, if it does.
    pub(crate) fn reason(&self, name: &str) -> Option<&'static str> {
        let name = name.to_ascii_lowercase();
        let is_it = |pattern: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        };
        self.entries.iter().find(|(pattern, _)| is_it(pattern)).map(|(_, reason)| *reason)
    }
}

/// The C and C++ runtimes with debugging, which Microsoft does not let anybody pass on (`vcruntime140_1d.dll`, `ucrtbased.dll`).
pub(crate) fn is_debug_crt(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let families = ["msvcp", "msvcr", "vcruntime", "vccorlib", "concrt", "ucrtbase"];
    let is_crt = families.iter().any(|family| name.starts_with(family));
    is_crt && name.strip_suffix(".dll").is_some_and(|stem| stem.ends_with('d'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_name_and_a_reason() {
        for host in [Host::Linux, Host::WindowsMsvc] {
            let system = System::of(host);
            assert!(system.entries.len() > 5);
            for (name, reason) in &system.entries {
                assert!(reason.len() > 3, "{name} has no reason");
                assert_eq!(*name, name.to_ascii_lowercase());
            }
        }
    }

    #[test]
    fn names_are_matched_in_any_case_and_by_their_start() {
        let windows = System::of(Host::WindowsGnu);
        for name in
            ["KERNEL32.dll", "api-ms-win-crt-runtime-l1-1-0.dll", "Ext-MS-Win-ntuser-uicontext-l1-1-0.dll"]
        {
            assert!(windows.reason(name).is_some(), "{name}");
        }
        for name in ["amdhip64_7.dll", "vcruntime140.dll", "kernel32x.dll", "libc.so.6"] {
            assert_eq!(windows.reason(name), None, "{name}");
        }
        assert!(System::of(Host::Linux).reason("libc.so.6").is_some());
    }

    #[test]
    fn debug_runtimes_are_known_by_their_last_letter() {
        for (name, expected) in [
            ("VCRUNTIME140D.dll", true),
            ("vcruntime140_1d.dll", true),
            ("msvcp140d.dll", true),
            ("ucrtbased.dll", true),
            ("vcruntime140.dll", false),
            ("ucrtbase.dll", false),
            ("msvcp140_2.dll", false),
            ("rocsolverd.dll", false),
        ] {
            assert_eq!(is_debug_crt(name), expected, "{name}");
        }
    }
}
