//! The AMD GPUs of this machine: what says so, what they are, and whether they are worth building for.
//!
//! Windows: hipInfo of the toolchain, then the registry (facts/strata.md 2.1, 2.2). Linux: the topology of the kernel's driver (2.3). Each
//! source is read by a thin edge into plain data and judged by pure functions.

mod hip_info;
mod kfd;
mod merge;
mod registry;
#[cfg(test)]
mod tests;
mod windows;

use gfx::{Target, Tier};
use std::path::{Path, PathBuf};

/// Who says what a GPU is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The HIP runtime, through hipInfo.
    HipInfo,
    /// Linux's kernel driver.
    Kfd,
    /// The PCI id in the registry.
    PciId,
    /// Only the name that the driver gives it.
    Name,
}

impl Source {
    /// As it is printed and written to JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::HipInfo => "hipInfo",
            Self::Kfd => "kfd",
            Self::PciId => "pci-id",
            Self::Name => "name",
        }
    }
}

/// One GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gpu {
    /// HIP's number, which `HIP_VISIBLE_DEVICES` takes; `None`: HIP does not list it, or was not asked.
    pub(crate) number: Option<u32>,
    /// As its driver calls it.
    pub(crate) name: Option<String>,
    /// As the runtime or the kernel names it, without features, e.g. `gfx1201`.
    pub(crate) arch: Option<String>,
    /// The target, if this project knows it.
    pub(crate) target: Option<Target>,
    /// In bytes. Of an integrated GPU it counts memory that it shares, or only what the firmware sets aside.
    pub(crate) vram: Option<u64>,
    /// Part of a processor.
    pub(crate) is_integrated: bool,
    /// The version of its driver, where one is told.
    pub(crate) driver: Option<String>,
    /// Who says what it is.
    pub(crate) source: Source,
}

impl Gpu {
    /// Why nothing is built for it by itself, as a clause; `None`: it is a target.
    pub(crate) fn refusal(&self) -> Option<String> {
        match (self.target.map(Target::tier), &self.arch) {
            (Some(Tier::Refused { reason }), _) => Some(reason.to_owned()),
            (Some(_), _) => None,
            (None, Some(arch)) => Some(format!("{arch} is no target of this project")),
            (None, None) => Some("neither its PCI id nor its name is known".to_owned()),
        }
    }

    /// `RX 9070 XT (gfx1201)`, with as much as is known.
    pub(crate) fn label(&self) -> String {
        match (&self.name, &self.arch) {
            (Some(name), Some(arch)) => format!("{name} ({arch})"),
            (Some(name), None) => name.clone(),
            (None, Some(arch)) => arch.clone(),
            (None, None) => "an AMD GPU without a name".to_owned(),
        }
    }
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Detection {
    /// By HIP's number, then those that HIP does not list.
    pub(crate) gpus: Vec<Gpu>,
    /// What the sources could not say, or say differently.
    pub(crate) remarks: Vec<String>,
}

impl Detection {
    /// The GPUs that `--targets native` builds for: discrete ones, and integrated ones only where there is no usable discrete one, because
    /// an integrated GPU that happens to be there is not what a release is made for (TheRock#5543, lemonade#1738).
    pub(crate) fn usable(&self) -> Vec<&Gpu> {
        let usable: Vec<&Gpu> = self.gpus.iter().filter(|gpu| gpu.refusal().is_none()).collect();
        let discrete: Vec<&Gpu> = usable.iter().copied().filter(|gpu| !gpu.is_integrated).collect();
        if discrete.is_empty() { usable } else { discrete }
    }

    /// The targets of those, each once, the one with most memory first.
    pub(crate) fn native_targets(&self) -> Vec<Target> {
        let mut gpus = self.usable();
        gpus.sort_by_key(|gpu| std::cmp::Reverse(gpu.vram));
        let mut targets = Vec::new();
        for target in gpus.into_iter().filter_map(|gpu| gpu.target) {
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        targets
    }
}

/// Asks this machine. `hip_roots` are dists and SDKs whose hipInfo may be started, the surest first; Linux's kernel knows as much and needs no
/// runtime.
pub(crate) fn detect(hip_roots: &[PathBuf]) -> Detection {
    match cfg!(windows) {
        true => windows::detect(hip_roots),
        false => kfd::detect(Path::new("/")),
    }
}
