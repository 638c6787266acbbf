//! The platform tag of a wheel: what a machine must have for its libraries to load.
//!
//! On Linux PEP 600's `manylinux_2_N_x86_64` promises glibc 2.N and the few libraries that every distribution has. It is given for what the
//! headers say and no more: a library that needs another one gets `linux_x86_64`, which an index refuses and an installer on this machine takes.

use super::closure::{Binary, Machine};
use crate::lock::Host;
use object::LittleEndian as LE;
use object::elf::FileHeader64;
use object::read::elf::FileHeader;

/// Libraries of PEP 600's policies.
const EVERYWHERE: [&str; 9] = [
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "libstdc++.so.6",
    "libutil.so.1",
];
/// The oldest glibc that there is a policy for on x86-64 and that clang and rustc still build for.
const OLDEST: u32 = 17;

/// The tag for a host, from the contents of a wheel's files.
pub(super) fn platform_tag<'a>(host: Host, files: impl Iterator<Item = &'a [u8]>) -> String {
    if host != Host::Linux {
        return host.wheel_platform().to_owned();
    }
    let mut newest = OLDEST;
    for bytes in files {
        let Ok(Some(binary)) = Binary::read(bytes) else { continue };
        let is_everywhere = binary.links.iter().all(|link| EVERYWHERE.contains(&link.name.as_str()));
        match glibc(bytes) {
            Ok(glibc) if is_everywhere && binary.machine == Machine::X86_64 => newest = newest.max(glibc),
            _ => return host.wheel_platform().to_owned(),
        }
    }
    format!("manylinux_2_{newest}_x86_64")
}

/// N of the newest `GLIBC_2.N` that the library asks for; 0: none.
fn glibc(bytes: &[u8]) -> object::Result<u32> {
    let sections = FileHeader64::<LE>::parse(bytes)?.sections(LE, bytes)?;
    let Some((mut libraries, strings)) = sections.gnu_verneed(LE, bytes)? else { return Ok(0) };
    let strings = sections.strings(LE, bytes, strings)?;
    let mut newest = 0;
    while let Some((_, mut versions)) = libraries.next()? {
        while let Some(version) = versions.next()? {
            newest = newest.max(minor(version.name(LE, strings)?));
        }
    }
    Ok(newest)
}

/// 34 of `GLIBC_2.34`, 2 of `GLIBC_2.2.5`; 0: another library's version.
fn minor(version: &[u8]) -> u32 {
    let version = std::str::from_utf8(version).unwrap_or_default();
    let minor = version.strip_prefix("GLIBC_2.").and_then(|rest| rest.split('.').next());
    minor.and_then(|minor| minor.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for (version, expected) in
            [("GLIBC_2.34", 34), ("GLIBC_2.2.5", 2), ("GLIBC_2.9", 9), ("GCC_4.2.0", 0), ("GLIBC_PRIVATE", 0)]
        {
            assert_eq!(minor(version.as_bytes()), expected, "{version}");
        }
    }

    /// This test program is a Linux binary of rustc's, linked against this machine's glibc.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn the_newest_symbol_of_a_real_binary_decides() {
        let own = std::fs::read(std::env::current_exe().expect("a path")).expect("readable");
        let glibc = glibc(&own).expect("an ELF file");
        assert!(glibc > OLDEST, "rustc's std asks for 2.18 at least");
        let files = [&own[..], b"text"];
        assert_eq!(platform_tag(Host::Linux, files.into_iter()), format!("manylinux_2_{glibc}_x86_64"));
    }

    #[test]
    fn what_has_no_library_runs_wherever_the_host_does() {
        assert_eq!(platform_tag(Host::Linux, std::iter::empty()), "manylinux_2_17_x86_64");
        assert_eq!(platform_tag(Host::WindowsGnu, std::iter::empty()), "win_amd64");
    }
}
