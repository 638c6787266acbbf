//! What a device is.

use crate::api::{INTEGRATED, MULTIPROCESSOR_COUNT, WARP_SIZE};
use crate::{CallError, Runtime};
use std::ffi::{c_char, c_int};

/// One GPU, as the runtime describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// HIP's number, which `HIP_VISIBLE_DEVICES` counts by.
    pub number: u32,
    /// The card's name; it may be empty.
    pub name: String,
    /// `gcnArchName` without its features, e.g. `gfx1201`.
    pub arch: String,
    /// In bytes. An APU counts shared memory too.
    pub total_memory: u64,
    /// Work-group processors on RDNA: half the number of compute units.
    pub multiprocessors: u32,
    /// Lanes of a wave.
    pub wave_size: u32,
    /// Whether it is part of a processor.
    pub is_integrated: bool,
    /// `domain:bus:device.function`.
    pub pci_bus_id: String,
}

/// Longer than any name the runtime gives: its own array has 256.
const NAME: usize = 512;
/// Ten times `hipDeviceProp_tR0600`, so that a longer one of the future fits too.
const PROPERTIES: usize = 16 << 10;

impl Runtime {
    /// Describes a device.
    ///
    /// # Errors
    /// What the runtime returns; `hipErrorInvalidDevice` for a number that does not exist.
    pub fn device(&self, number: u32) -> Result<Device, CallError> {
        let ordinal = c_int::try_from(number).unwrap_or(c_int::MAX);
        let api = &self.api;
        let mut total_memory = 0_usize;
        // SAFETY: the pointer is to a live integer.
        let code = unsafe { (api.device_total_mem)(&raw mut total_memory, ordinal) };
        api.check(code, "hipDeviceTotalMem")?;
        Ok(Device {
            number,
            // SAFETY: the callback gives the runtime a buffer and its length.
            name: self.text("hipDeviceGetName", |buffer, len| unsafe {
                (api.device_get_name)(buffer, len, ordinal)
            })?,
            arch: self.arch(ordinal)?,
            total_memory: total_memory as u64,
            multiprocessors: self.attribute(MULTIPROCESSOR_COUNT, ordinal)?,
            wave_size: self.attribute(WARP_SIZE, ordinal)?,
            is_integrated: self.attribute(INTEGRATED, ordinal)? != 0,
            pci_bus_id: self.text("hipDeviceGetPCIBusId", |buffer, len| {
                // SAFETY: as above.
                unsafe { (api.device_get_pci_bus_id)(buffer, len, ordinal) }
            })?,
        })
    }

    fn attribute(&self, attribute: c_int, ordinal: c_int) -> Result<u32, CallError> {
        let mut value: c_int = 0;
        // SAFETY: the pointer is to a live integer.
        let code = unsafe { (self.api.device_get_attribute)(&raw mut value, attribute, ordinal) };
        self.api.check(code, "hipDeviceGetAttribute")?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    fn text(
        &self,
        function: &'static str,
        call: impl FnOnce(*mut c_char, c_int) -> c_int,
    ) -> Result<String, CallError> {
        let mut buffer = [0_u8; NAME];
        // The last byte stays NUL whatever the runtime writes.
        let code = call(buffer.as_mut_ptr().cast(), NAME as c_int - 1);
        self.api.check(code, function)?;
        Ok(until_nul(&buffer).trim().to_owned())
    }

    /// `gcnArchName` is a field of the properties and of nothing else. Where it lies in the structure depends on the version, so the structure is
    /// taken as bytes and searched.
    fn arch(&self, ordinal: c_int) -> Result<String, CallError> {
        // u64: the structure holds pointers and sizes, so it wants their alignment.
        let mut properties = vec![0_u64; PROPERTIES / 8];
        // SAFETY: the buffer is zeroed, aligned and much longer than what the runtime writes.
        let code = unsafe { (self.api.get_device_properties_r0600)(properties.as_mut_ptr().cast(), ordinal) };
        self.api.check(code, "hipGetDevicePropertiesR0600")?;
        let bytes: Vec<u8> = properties.iter().flat_map(|word| word.to_ne_bytes()).collect();
        Ok(find_arch(&bytes).unwrap_or_default())
    }
}

/// The last string in the bytes that begins with `gfx`, without its features. The last, because the card's name comes first, and a driver that does
/// not know a card may put the architecture there too.
fn find_arch(bytes: &[u8]) -> Option<String> {
    let is_start = |i: &usize| bytes[*i..].starts_with(b"gfx") && (*i == 0 || bytes[*i - 1] == 0);
    let start = (0..bytes.len()).rev().find(is_start)?;
    let name = until_nul(&bytes[start..]);
    Some(name.split(':').next().unwrap_or_default().to_owned())
}

fn until_nul(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_found_wherever_it_lies() {
        for (bytes, arch) in [
            (&b"AMD Radeon\0\0\x10\0\0gfx1201\0\0\0"[..], Some("gfx1201")),
            (b"gfx1036\0\0\x01gfx7\0gfx1036:sramecc-:xnack-\0\0", Some("gfx1036")),
            (b"a card with gfx1100 in its name\0\0", None),
            (b"\0gfx1100", Some("gfx1100")),
            (b"", None),
        ] {
            assert_eq!(find_arch(bytes).as_deref(), arch);
        }
    }
}
