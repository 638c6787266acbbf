//! What is wrong with a closure. All of it is said at once.

use super::{Location, Machine, Place};
use std::fmt;

/// One thing that stops a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// Nothing of this name is anywhere.
    Missing {
        /// From the program to the library: `strata.exe -> libhipblaslt.dll -> origami.dll`.
        chain: String,
        /// The name.
        name: String,
        /// Place and folder of each search.
        looked_in: Vec<String>,
    },
    /// It would not load.
    Machine {
        /// The same.
        chain: String,
        /// Where it lies.
        path: String,
        /// What it is for.
        machine: Machine,
    },
    /// It has the name of a library, and neither PE nor ELF headers.
    NoLibrary {
        /// The same.
        chain: String,
        /// Where it lies.
        path: String,
    },
    /// A debug runtime, which may not be shipped and is on no user's machine.
    DebugCrt {
        /// The same.
        chain: String,
        /// The name.
        name: String,
    },
    /// Two files of one name and different content.
    Duplicate {
        /// The name.
        name: String,
        /// Where one lies.
        first: String,
        /// Where the other lies.
        second: String,
    },
}

/// Who provides what is not in a toolchain.
const PROVIDERS: [(&[&str], &str); 5] = [
    (
        &["msvcp", "vcruntime", "concrt", "vccorlib"],
        "the Visual C++ redistributable: name its folder with --redist DIR, or set VCToolsRedistDir",
    ),
    (
        &[
            "amdhip64",
            "libamdhip64",
            "amd_comgr",
            "libamd_comgr",
            "rocm_kpack",
            "librocm_kpack",
            "hiprtc",
            "libhiprtc",
            "libhsa-",
        ],
        "AMD's runtime: a toolchain `therock-…` (cargo xtask lock show)",
    ),
    (
        &[
            "hipblas",
            "libhipblas",
            "rocblas",
            "librocblas",
            "rocsolver",
            "librocsolver",
            "origami",
            "liborigami",
            "libtensilelite",
            "tensilelite",
            "rocroller",
            "librocroller",
        ],
        "ROCm's BLAS libraries: a toolchain `therock-…` of the same release as its rocblas",
    ),
    (&["librocm_sysdeps_"], "lib/rocm_sysdeps of a toolchain `therock-…`"),
    (&["libomp", "libopenblas", "rocm-openblas"], "the host math libraries of a toolchain `therock-…`"),
];

/// Who provides `name`, as far as it is known.
fn provider(name: &str) -> &'static str {
    let name = name.to_ascii_lowercase();
    let known = PROVIDERS.iter().find(|(starts, _)| starts.iter().any(|start| name.starts_with(start)));
    known.map_or(
        "unknown: a package of the toolchain has to have it, or, when the system owns it, a line of xtask/src/dist/closure/system-*.txt",
        |(_, provider)| provider,
    )
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Missing { chain, name, looked_in } => write!(
                f,
                "`{name}` is missing: {chain}\n    looked for in: {}\n    provided by: {}",
                looked_in.join(", "),
                provider(name)
            ),
            Problem::Machine { chain, path, machine } => {
                write!(f, "`{path}` is for {machine}, not for x86-64: {chain}")
            }
            Problem::NoLibrary { chain, path } => write!(f, "`{path}` is no library: {chain}"),
            Problem::DebugCrt { chain, name } => {
                write!(f, "`{name}` is a debug runtime, which must not be shipped: {chain}")
            }
            Problem::Duplicate { name, first, second } => {
                write!(f, "two different files have the name `{name}`: `{first}` and `{second}`")
            }
        }
    }
}

/// One line and more each.
pub(crate) fn shown(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("  {problem}")).collect::<Vec<_>>().join("\n")
}

/// A file as errors name it.
pub(super) fn place_of(places: &[Place], location: &Location) -> String {
    format!("{}: {}", places[location.place].name, location.path)
}
