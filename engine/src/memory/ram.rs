//! How much RAM can be used.

/// Bytes of RAM that programs can still get; `None` where that is not known (everywhere but on Linux).
pub fn available() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn parse(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_kernels_table_is_read() {
        let table = "MemTotal:       24610000 kB\nMemFree:         1000 kB\nMemAvailable:   20000000 kB\n";
        assert_eq!(super::parse(table), Some(20_000_000 * 1024));
        assert_eq!(super::parse("MemAvailable: many kB\n"), None);
        assert_eq!(super::parse(""), None);
    }
}
