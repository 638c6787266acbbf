//! How much RAM can be used.

/// Bytes of RAM that programs can still get, no more than the limits of this process's control groups; `None` where that is not known.
#[cfg(not(windows))]
pub fn available() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|table| parse(&table));
    let groups = read("/proc/self/cgroup").and_then(|groups| room_of_groups(&groups, read));
    machine.into_iter().chain(groups).min()
}

/// As above, by GlobalMemoryStatusEx.
#[cfg(windows)]
#[allow(unsafe_code)] // one call
pub fn available() -> Option<u64> {
    use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
    let mut status = MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..Default::default() };
    // SAFETY: the structure lives and says its own size.
    (unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0).then_some(status.ullAvailPhys)
}

#[cfg_attr(windows, allow(dead_code))]
fn parse(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest room of the control groups that `/proc/self/cgroup` names and of those around them; `None`: none has a limit. `read` gives a file's text.
#[cfg_attr(windows, allow(dead_code))]
fn room_of_groups(groups: &str, read: impl Fn(&str) -> Option<String>) -> Option<u64> {
    // Of version 2 `0::/path`; of version 1 `4:memory:/path`.
    let rooms = groups.lines().flat_map(|line| {
        let (controllers, path) =
            line.split_once(':').and_then(|(_, rest)| rest.split_once(':')).unwrap_or_default();
        let names = match controllers {
            "" => Some(["/sys/fs/cgroup", "memory.max", "memory.current", ""]),
            _ if controllers.split(',').any(|name| name == "memory") => {
                Some(["/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"])
            }
            _ => None,
        };
        let around = std::path::Path::new(path).ancestors().filter_map(std::path::Path::to_str);
        names.into_iter().flat_map(|names| around.clone().map(move |path| (names, path))).collect::<Vec<_>>()
    });
    let room = |([root, limit, used, prefix], path): ([&str; 4], &str)| {
        let text = |name: &str| read(&format!("{root}{}/{name}", path.trim_end_matches('/')));
        // `max` is no limit.
        let limit: u64 = text(limit)?.trim().parse().ok()?;
        let used: u64 = text(used)?.trim().parse().ok()?;
        // Pages of files are given back when they are wanted, as MemAvailable counts them: a model that was mapped before is no memory that is used.
        let table = text("memory.stat").unwrap_or_default();
        let pages = |name: &str| {
            let number =
                |line: &str| line.strip_prefix(prefix)?.strip_prefix(name)?.trim().parse::<u64>().ok();
            table.lines().find_map(number).unwrap_or(0)
        };
        let files = pages("inactive_file ") + pages("active_file ");
        Some(limit.saturating_sub(used.saturating_sub(files)))
    };
    rooms.filter_map(room).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_table_is_read() {
        let table = "MemTotal:       24610000 kB\nMemFree:         1000 kB\nMemAvailable:   20000000 kB\n";
        assert_eq!(parse(table), Some(20_000_000 * 1024));
        assert_eq!(parse("MemAvailable: many kB\n"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn the_smallest_group_is_the_limit() {
        let read = |files: &'static [(&str, &str)]| {
            move |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned())
        };
        let second: &[_] = &[
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/b/memory.current", "700\n"),
            ("/sys/fs/cgroup/a/memory.max", "1000\n"),
            ("/sys/fs/cgroup/a/memory.current", "900\n"),
            ("/sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 100\nactive_file 200\n"),
        ];
        assert_eq!(room_of_groups("0::/a/b\n", read(second)), Some(400));
        assert_eq!(room_of_groups("0::/a/b\n", read(&[])), None);
        // In a container its own group is the root; more used than there is leaves nothing.
        let root: &[_] = &[("/sys/fs/cgroup/memory.max", "5\n"), ("/sys/fs/cgroup/memory.current", "9\n")];
        assert_eq!(room_of_groups("0::/\n", read(root)), Some(0));
        let first: &[_] = &[
            ("/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "50"),
            ("/sys/fs/cgroup/memory/c/memory.usage_in_bytes", "20"),
            (
                "/sys/fs/cgroup/memory/c/memory.stat",
                "active_file 9\ntotal_inactive_file 1\ntotal_active_file 2\n",
            ),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
            ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "20"),
        ];
        assert_eq!(room_of_groups("5:cpu,cpuacct:/c\n4:memory:/c\n", read(first)), Some(33));
        assert_eq!(room_of_groups("nonsense", read(first)), None);
    }
}
