//! What a lock says, after it has been checked.

use crate::address;
use crate::digest::{Hasher, Sha256};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The format that this xtask reads and writes.
pub(crate) const FORMAT: i64 = 1;

/// A whole lock.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lock {
    /// In the order of the file.
    pub(crate) toolchains: Vec<Toolchain>,
    /// In the order of the file.
    pub(crate) packages: Vec<Package>,
    /// The digest of the file's text with line ends as `\n`, so that a checkout on Windows has the same one.
    pub(crate) digest: Sha256,
}

/// A named set of packages that builds for some targets on one host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Toolchain {
    /// What `--toolchain` takes.
    pub(crate) name: String,
    /// Where its programs run.
    pub(crate) host: Host,
    /// The ROCm release of its headers and runtime.
    pub(crate) rocm: String,
    /// The targets that it can build.
    pub(crate) targets: Vec<gfx::Target>,
    /// The packages' names; each exists in the lock for this host or for any.
    pub(crate) packages: Vec<String>,
}

/// One thing at one version for one host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Package {
    /// Unique together with the host.
    pub(crate) name: String,
    /// The version as its publisher writes it.
    pub(crate) version: String,
    /// Where it runs; `None` for headers and sources, which run nowhere.
    pub(crate) host: Option<Host>,
    /// SPDX expression.
    pub(crate) license: String,
    /// What a toolchain gets from it.
    pub(crate) provides: Vec<Part>,
    /// Only members below these paths are unpacked; empty: all.
    pub(crate) only: Vec<String>,
    /// Tried in order.
    pub(crate) sources: Vec<Source>,
}

/// One way to get a package: archives that are unpacked, in order, into one tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    /// How its archives are got.
    pub(crate) channel: Channel,
    /// At least one.
    pub(crate) archives: Vec<Archive>,
    /// What unpacking gives, when somebody has measured it.
    pub(crate) tree: Option<TreeFacts>,
}

/// A tree, measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TreeFacts {
    /// Files and links.
    pub(crate) files: u64,
    /// Bytes of all files.
    pub(crate) bytes: u64,
    /// Characters of the longest path, as Windows counts them; `None` in entries of before it was measured.
    pub(crate) longest: Option<u64>,
    /// The digest of the manifest.
    pub(crate) sha256: Sha256,
}

/// Who fetches an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Channel {
    /// xtask itself, over https.
    Url,
    /// The machine's own pip, with its own index.
    Pip,
    /// The machine's own `apt-get download`, with its own mirror.
    Deb,
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Channel::Url => "url",
            Channel::Pip => "pip",
            Channel::Deb => "deb",
        })
    }
}

/// One file that is downloaded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Archive {
    /// The https address (`url`), or empty.
    pub(crate) url: String,
    /// The package's name on the channel (`pip`, `deb`), or empty.
    pub(crate) name: String,
    /// The package's version on the channel (`pip`, `deb`), or empty.
    pub(crate) version: String,
    /// The suite that carries it (`deb`), or empty.
    pub(crate) suite: String,
    /// The file's name; its ending tells the format.
    pub(crate) file: String,
    /// In bytes; `None` where a published hash came without one.
    pub(crate) size: Option<u64>,
    /// Of the file as downloaded.
    pub(crate) sha256: Sha256,
    /// Who measured the hash, and when.
    pub(crate) measured: Vec<Measured>,
}

impl Archive {
    /// How a person names it: the address as it may be shown, or `name version`.
    pub(crate) fn label(&self) -> String {
        match self.url.is_empty() {
            true => format!("{} {}", self.name, self.version),
            false => address::shown(&self.url),
        }
    }
}

/// One measurement of a hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measured {
    /// The place or program that published it, e.g. `xtask lock add`.
    pub(crate) by: String,
    /// The day, `YYYY-MM-DD`.
    pub(crate) on: String,
}

/// What a package gives to a toolchain; the layout gate looks for it after unpacking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// clang, lld and clang's resource folder.
    Compiler,
    /// The HIP headers.
    Hip,
    /// What joins code for a GPU and for a host in one object, where it does not lie beside the compiler.
    OffloadBundler,
    /// The device bitcode libraries.
    DeviceLibs,
    /// CMake.
    Cmake,
    /// Ninja.
    Ninja,
    /// The headers of Composable Kernel.
    ComposableKernel,
}

impl Part {
    /// Every part, in the order in which they are reported.
    pub(crate) const ALL: [Part; 7] = [
        Part::Compiler,
        Part::OffloadBundler,
        Part::Hip,
        Part::DeviceLibs,
        Part::Cmake,
        Part::Ninja,
        Part::ComposableKernel,
    ];

    /// The name in the lock.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Part::Compiler => "compiler",
            Part::Hip => "hip",
            Part::OffloadBundler => "offload-bundler",
            Part::DeviceLibs => "device-libs",
            Part::Cmake => "cmake",
            Part::Ninja => "ninja",
            Part::ComposableKernel => "composable-kernel",
        }
    }
}

/// A machine that runs programs, named by its Rust triple.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Host {
    /// `x86_64-unknown-linux-gnu`
    Linux,
    /// `x86_64-pc-windows-msvc`
    WindowsMsvc,
    /// `x86_64-pc-windows-gnu`
    WindowsGnu,
}

impl Default for Host {
    fn default() -> Self {
        Self::THIS
    }
}

impl Host {
    /// Every host.
    pub(crate) const ALL: [Host; 3] = [Host::Linux, Host::WindowsMsvc, Host::WindowsGnu];

    /// Every triple, for messages.
    pub(crate) fn triples() -> String {
        Self::ALL.map(Self::triple).join(", ")
    }

    /// The host that this xtask was built for.
    pub(crate) const THIS: Host = if cfg!(all(windows, target_env = "msvc")) {
        Host::WindowsMsvc
    } else if cfg!(windows) {
        Host::WindowsGnu
    } else {
        Host::Linux
    };

    /// The Rust triple.
    pub(crate) fn triple(self) -> &'static str {
        match self {
            Host::Linux => "x86_64-unknown-linux-gnu",
            Host::WindowsMsvc => "x86_64-pc-windows-msvc",
            Host::WindowsGnu => "x86_64-pc-windows-gnu",
        }
    }

    /// The host with this triple.
    pub(crate) fn from_triple(triple: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.triple() == triple)
    }

    /// What an executable's name ends with.
    pub(crate) fn exe_suffix(self) -> &'static str {
        match self {
            Host::Linux => "",
            Host::WindowsMsvc | Host::WindowsGnu => ".exe",
        }
    }

    /// The file name of a shared library.
    pub(crate) fn library_name(self, name: &str) -> String {
        match self {
            Host::Linux => format!("lib{name}.so"),
            Host::WindowsMsvc | Host::WindowsGnu => format!("{name}.dll"),
        }
    }

    /// What Python's packaging calls it.
    pub(crate) fn wheel_platform(self) -> &'static str {
        match self {
            Host::Linux => "linux_x86_64",
            Host::WindowsMsvc | Host::WindowsGnu => "win_amd64",
        }
    }

    /// Whether programs for `other` run here: both Windows ABIs do on Windows.
    pub(crate) fn runs(self, other: Host) -> bool {
        (self == Host::Linux) == (other == Host::Linux)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.triple())
    }
}

impl Source {
    /// What the store calls the tree that comes out of this source: the archive's own sha256, or, when there are several archives or only a
    /// part of them is unpacked, the digest of that recipe.
    pub(crate) fn key(&self, only: &[String]) -> Sha256 {
        if let ([archive], true) = (self.archives.as_slice(), only.is_empty()) {
            return archive.sha256;
        }
        let mut hasher = Hasher::new();
        for archive in &self.archives {
            hasher.field(&archive.sha256.to_string());
        }
        for path in only {
            hasher.field(path);
        }
        hasher.finish().0
    }
}
