//! Memory of the host that the device sees too: how the two signal each other while a kernel runs.

use crate::api::HOST_MALLOC_MAPPED;
use crate::{CallError, Runtime};
use std::ffi::c_void;
use std::sync::atomic::AtomicU32;

/// Words of the host that are mapped for the current device.
pub struct MappedWords {
    runtime: Runtime,
    host: *mut c_void,
    device: *mut c_void,
    count: usize,
}

// SAFETY: the words are atomics, and the runtime's functions may be called from any thread.
unsafe impl Send for MappedWords {}
// SAFETY: as above.
unsafe impl Sync for MappedWords {}

impl Runtime {
    /// `count` words, all 0.
    ///
    /// # Errors
    /// `hipErrorOutOfMemory`, or a device that cannot map memory of the host.
    pub fn mapped_words(&self, count: usize) -> Result<MappedWords, CallError> {
        let (mut host, mut device) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the pointer is to a live pointer.
        let code = unsafe {
            (self.api.host_malloc)(&raw mut host, count * size_of::<AtomicU32>(), HOST_MALLOC_MAPPED)
        };
        self.api.check(code, "hipHostMalloc")?;
        // SAFETY: the runtime gave that many bytes, aligned for any type.
        unsafe { host.cast::<u8>().write_bytes(0, count * size_of::<AtomicU32>()) };
        let mut words = MappedWords { runtime: self.clone(), host, device, count };
        // SAFETY: the pointer is to a live pointer, and the memory was mapped above.
        let code = unsafe { (self.api.host_get_device_pointer)(&raw mut device, host, 0) };
        self.api.check(code, "hipHostGetDevicePointer")?;
        words.device = device;
        Ok(words)
    }
}

impl MappedWords {
    /// Their address on the device, for an argument block.
    pub fn address(&self) -> u64 {
        self.device as u64
    }

    /// The words.
    pub fn words(&self) -> &[AtomicU32] {
        // SAFETY: the memory holds that many words, was set to 0, lives as long as `self`, and all access of this process is atomic.
        unsafe { std::slice::from_raw_parts(self.host.cast(), self.count) }
    }
}

impl Drop for MappedWords {
    fn drop(&mut self) {
        // SAFETY: the memory came from hipHostMalloc and is freed once. A failure leaves nothing to do.
        unsafe { (self.runtime.api.host_free)(self.host) };
    }
}
