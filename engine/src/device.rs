//! One device, and whether this release runs on it.

use gfx::Target;
use serde::Serialize;

/// A line of `--list-devices`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceReport {
    /// HIP's number.
    pub number: u32,
    /// What it is; absent when the runtime could not say.
    pub description: Option<Description>,
    /// Why this release does not run on it.
    pub cannot_run: Option<String>,
}

/// What the runtime says of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Description {
    /// The card's name.
    pub name: String,
    /// `gcnArchName` without features.
    pub arch: String,
    /// In bytes; an APU counts shared memory too.
    pub total_memory: u64,
    /// Half the number of compute units.
    pub multiprocessors: u32,
    /// Lanes of a wave.
    pub wave_size: u32,
    /// Whether it is part of a processor.
    pub is_integrated: bool,
    /// `domain:bus:device.function`.
    pub pci_bus_id: String,
    /// What is known of the target: validated, community, experimental or refused.
    pub tier: Option<&'static str>,
}

impl DeviceReport {
    /// The report on a device that was described.
    pub fn new(device: hip::Device, compiled_for: &[Target]) -> Self {
        let target = Target::parse(&device.arch).ok();
        Self {
            number: device.number,
            cannot_run: reason_not_to_run(&device, target, compiled_for),
            description: Some(Description {
                name: device.name,
                arch: device.arch,
                total_memory: device.total_memory,
                multiprocessors: device.multiprocessors,
                wave_size: device.wave_size,
                is_integrated: device.is_integrated,
                pci_bus_id: device.pci_bus_id,
                tier: target.map(|target| target.tier().name()),
            }),
        }
    }

    /// The report on a device that the runtime lists and cannot describe.
    pub fn undescribed(number: u32) -> Self {
        Self { number, description: None, cannot_run: Some("the runtime cannot describe it".into()) }
    }

    /// The device's target, if it is one of this project's.
    pub fn target(&self) -> Option<Target> {
        Target::parse(&self.description.as_ref()?.arch).ok()
    }
}

fn reason_not_to_run(
    device: &hip::Device,
    target: Option<Target>,
    compiled_for: &[Target],
) -> Option<String> {
    let Some(target) = target else {
        return Some(format!("`{}` is no target of Strata", device.arch));
    };
    if device.wave_size != target.wave_size() {
        return Some(format!(
            "its waves have {} lanes, and every kernel is for {}",
            device.wave_size,
            target.wave_size()
        ));
    }
    if !target.runs().any(|target| compiled_for.contains(&target)) {
        let list = names(compiled_for);
        return Some(format!("this release has no code for {target}; it was compiled for {list}"));
    }
    None
}

/// `gfx1100,gfx1201`; `nothing` for none.
pub fn names(targets: &[Target]) -> String {
    if targets.is_empty() {
        return "nothing".into();
    }
    targets.iter().map(|target| target.name()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfx::Target::{Gfx11Generic, Gfx1201};

    fn reason(arch: &str, wave_size: u32, compiled_for: &[Target]) -> Option<String> {
        let device = hip::Device {
            number: 0,
            name: "a card".into(),
            arch: arch.into(),
            total_memory: 1 << 34,
            multiprocessors: 32,
            wave_size,
            is_integrated: false,
            pci_bus_id: "0000:03:00.0".into(),
        };
        DeviceReport::new(device, compiled_for).cannot_run
    }

    #[test]
    fn exact_and_generic_code_runs() {
        assert_eq!(reason("gfx1201", 32, &[Gfx1201]), None);
        assert_eq!(reason("gfx1151", 32, &[Gfx11Generic, Gfx1201]), None);
    }

    #[test]
    fn each_obstacle_is_named() {
        let text =
            |arch, wave_size, compiled_for| reason(arch, wave_size, compiled_for).expect("an obstacle");
        assert_eq!(text("gfx906", 64, &[Gfx1201]), "`gfx906` is no target of Strata");
        assert_eq!(text("gfx1201", 64, &[Gfx1201]), "its waves have 64 lanes, and every kernel is for 32");
        assert_eq!(
            text("gfx1200", 32, &[Gfx11Generic, Gfx1201]),
            "this release has no code for gfx1200; it was compiled for gfx11-generic,gfx1201"
        );
        assert!(text("gfx1200", 32, &[]).ends_with("compiled for nothing"));
    }
}
