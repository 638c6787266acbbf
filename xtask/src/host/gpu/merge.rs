//! One list out of what hipInfo and the registry say.

use super::hip_info::{Device, Report};
use super::registry::Adapter;
use super::{Detection, Gpu, Source};
use gfx::Target;

/// What the runtime says counts, because it is the runtime that takes or refuses a code object; the registry adds drivers, cross-checks sizes,
/// and knows the cards that HIP does not list.
pub(super) fn merge(report: Option<&Report>, adapters: &[Adapter]) -> Detection {
    let mut detection = Detection::default();
    let mut rest: Vec<&Adapter> = adapters.iter().collect();
    for device in report.iter().flat_map(|report| &report.devices) {
        let adapter = partner(device, &rest).map(|index| rest.remove(index));
        detection.remarks.extend(adapter.and_then(|adapter| contradiction(device, adapter)));
        detection.gpus.push(of_device(device, adapter));
    }
    detection.gpus.sort_by_key(|gpu| gpu.number);
    if let Some(failure) = report.and_then(|report| report.failure.as_ref()) {
        detection.remarks.push(format!("hipInfo finds no device: {failure}"));
    }
    if report.is_some_and(|report| report.failure.is_none()) {
        let unlisted = rest.iter().filter(|adapter| adapter.target().is_some());
        detection.remarks.extend(unlisted.map(|adapter| {
            let name = adapter.name.as_deref().unwrap_or("an AMD GPU");
            format!("HIP does not list {name}: its driver is too old, or the card is switched off")
        }));
    }
    detection.gpus.extend(rest.into_iter().map(of_adapter));
    detection
}

/// The adapter of a device: same chip or same name; equal cards in the order of both lists.
fn partner(device: &Device, adapters: &[&Adapter]) -> Option<usize> {
    let target = target(device);
    let same_name = |adapter: &&Adapter| device.name.is_some() && adapter.name == device.name;
    let same_chip = |adapter: &&Adapter| target.is_some() && adapter.target() == target;
    adapters.iter().position(same_name).or_else(|| adapters.iter().position(same_chip))
}

fn target(device: &Device) -> Option<Target> {
    device.arch.as_deref().and_then(|arch| Target::parse(arch).ok())
}

fn contradiction(device: &Device, adapter: &Adapter) -> Option<String> {
    let (said, id) = (device.arch.as_deref()?, adapter.pci_id?);
    let known = adapter.target_of_id().filter(|target| target.name() != said)?;
    Some(format!("GPU {}: hipInfo says {said}, its PCI id 1002:{id:04x} is {known}'s", device.number))
}

fn of_device(device: &Device, adapter: Option<&Adapter>) -> Gpu {
    let said = target(device);
    // A runtime without words leaves the id and the name.
    let target = match device.arch {
        Some(_) => said,
        None => adapter
            .and_then(Adapter::target)
            .or_else(|| device.name.as_deref().and_then(gfx::target_of_card_name)),
    };
    let is_integrated = device.is_integrated == Some(true) || target.is_some_and(gfx::is_integrated);
    let registered = adapter.and_then(|adapter| adapter.vram);
    Gpu {
        number: Some(device.number),
        name: device.name.clone().or_else(|| adapter.and_then(|adapter| adapter.name.clone())),
        arch: device.arch.clone().or_else(|| target.map(|target| target.name().to_owned())),
        target,
        // The registry knows only what the firmware sets aside for an integrated GPU.
        vram: if is_integrated { device.memory } else { device.memory.max(registered) },
        is_integrated,
        driver: adapter.and_then(|adapter| adapter.driver.clone()),
        source: Source::HipInfo,
    }
}

fn of_adapter(adapter: &Adapter) -> Gpu {
    let target = adapter.target();
    Gpu {
        number: None,
        name: adapter.name.clone(),
        arch: target.map(|target| target.name().to_owned()),
        target,
        vram: adapter.vram,
        is_integrated: target.is_some_and(gfx::is_integrated),
        driver: adapter.driver.clone(),
        source: if adapter.target_of_id().is_some() { Source::PciId } else { Source::Name },
    }
}
