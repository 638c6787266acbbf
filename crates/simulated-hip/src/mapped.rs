//! Memory of the host that a device sees too: each side has a copy, and what the device wrote is made visible to the host when a card's would be.

use crate::device::Device;
use std::sync::atomic::{AtomicU32, Ordering};

/// When the host sees what a device wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Visible {
    /// As soon as it is done.
    #[default]
    AtOnce,
    /// When the driver is entered: Windows' WDDM.
    InTheDriver,
    /// There is no such memory.
    Never,
}

impl Visible {
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "driver" => Self::InTheDriver,
            "never" => Self::Never,
            _ => Self::AtOnce,
        }
    }
}

/// Words of the host and their copy on a device.
pub(crate) struct Mapped {
    /// Lives until the process ends.
    pub(crate) host: &'static [AtomicU32],
    pub(crate) device: usize,
    pub(crate) address: u64,
}

impl Mapped {
    /// Zeros, on a device.
    pub(crate) fn new(bytes: usize, number: usize, devices: &mut [Device]) -> Self {
        let words = bytes.div_ceil(4);
        let host: Vec<AtomicU32> = (0..words).map(|_| AtomicU32::new(0)).collect();
        let addresses = devices.iter_mut().enumerate().map(|(other, device)| {
            let own = if other == number { words } else { 0 };
            device.memory.read_write("memory of hipHostMalloc", &vec![0_u32; own])
        });
        let address = addresses.collect::<Vec<u64>>()[number];
        Self { host: host.leak(), device: number, address }
    }

    /// Shows the host what the device wrote.
    pub(crate) fn publish(&self, devices: &[Device]) {
        let words = devices[self.device].memory.read(self.address, self.host.len() * 4);
        let Ok((bytes, _)) = words else { return };
        for (word, bytes) in self.host.iter().zip(bytes.as_chunks::<4>().0) {
            word.store(u32::from_le_bytes(*bytes), Ordering::Release);
        }
    }
}
