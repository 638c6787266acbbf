//! Device memory.

use crate::api::{DEVICE_TO_HOST, HOST_TO_DEVICE, INVALID_VALUE};
use crate::{CallError, Runtime};
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// What `hipMemGetInfo` says, in bytes. On Windows it counts this process only (facts/strata.md 1.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Not in use.
    pub free: u64,
    /// All of it.
    pub total: u64,
}

/// Bytes on the device, freed when it is dropped.
pub struct DeviceBuffer {
    runtime: Runtime,
    pointer: *mut c_void,
    len: usize,
}

// SAFETY: the pointer is an address on the device that this process never dereferences, and the runtime's functions may be called from any thread.
unsafe impl Send for DeviceBuffer {}
// SAFETY: as above.
unsafe impl Sync for DeviceBuffer {}

impl Runtime {
    /// Free and total memory of the current device.
    ///
    /// # Errors
    /// What the runtime returns.
    pub fn memory_info(&self) -> Result<MemoryInfo, CallError> {
        // Some drivers answer the first query of a process with "invalid value" and crash at the next kernel; a free of nothing starts the runtime
        // fully, and a second try after a moment succeeds (facts/strata.md 1.6, Strata #873, #654).
        // SAFETY: freeing null does nothing.
        let code = unsafe { (self.api.free)(std::ptr::null_mut()) };
        self.api.check(code, "hipFree")?;
        match self.memory_info_once() {
            Err(error) if error.code == INVALID_VALUE => {
                std::thread::sleep(Duration::from_millis(250));
                self.memory_info_once()
            }
            result => result,
        }
    }

    fn memory_info_once(&self) -> Result<MemoryInfo, CallError> {
        let (mut free, mut total) = (0_usize, 0_usize);
        // SAFETY: both pointers are to live integers.
        let code = unsafe { (self.api.mem_get_info)(&raw mut free, &raw mut total) };
        self.api.check(code, "hipMemGetInfo")?;
        Ok(MemoryInfo { free: free as u64, total: total as u64 })
    }

    /// Memory on the current device, with any content.
    ///
    /// # Errors
    /// `hipErrorOutOfMemory`.
    pub fn allocate(&self, len: usize) -> Result<DeviceBuffer, CallError> {
        let mut pointer = std::ptr::null_mut();
        // SAFETY: the pointer is to a live pointer.
        let code = unsafe { (self.api.malloc)(&raw mut pointer, len) };
        self.api.check(code, "hipMalloc")?;
        Ok(DeviceBuffer { runtime: self.clone(), pointer, len })
    }

    /// Memory on the current device that holds `bytes`.
    ///
    /// # Errors
    /// `hipErrorOutOfMemory`, or a copy that failed.
    pub fn upload(&self, bytes: &[u8]) -> Result<DeviceBuffer, CallError> {
        let mut buffer = self.allocate(bytes.len())?;
        buffer.write(bytes)?;
        Ok(buffer)
    }
}

impl DeviceBuffer {
    /// Copies `len` bytes of `from`, which lies on device `from_device`, to the begin of this buffer on device `device`, after the work of their
    /// default streams.
    ///
    /// # Errors
    /// What the runtime returns.
    ///
    /// # Panics
    /// If one of the buffers is shorter.
    pub fn copy_from(
        &mut self,
        device: u32,
        from: &Self,
        from_device: u32,
        len: usize,
    ) -> Result<(), CallError> {
        assert!(
            len <= self.len && len <= from.len,
            "{len} bytes of {} do not fit into {}",
            from.len,
            self.len
        );
        let ordinal = |device: u32| c_int::try_from(device).unwrap_or(c_int::MAX);
        // SAFETY: both sides hold as many bytes.
        let code = unsafe {
            (self.runtime.api.memcpy_peer)(
                self.pointer,
                ordinal(device),
                from.pointer,
                ordinal(from_device),
                len,
            )
        };
        self.runtime.api.check(code, "hipMemcpyPeer")
    }

    /// Its address on the device, for an argument block.
    pub fn address(&self) -> u64 {
        self.pointer as u64
    }

    /// In bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies `bytes` to its begin; waits until they are there.
    ///
    /// # Errors
    /// What the runtime returns.
    ///
    /// # Panics
    /// If there are more bytes than the buffer holds.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), CallError> {
        assert!(bytes.len() <= self.len, "{} bytes do not fit into {}", bytes.len(), self.len);
        // SAFETY: both sides hold as many bytes.
        let code = unsafe {
            (self.runtime.api.memcpy)(self.pointer, bytes.as_ptr().cast(), bytes.len(), HOST_TO_DEVICE)
        };
        self.runtime.api.check(code, "hipMemcpy")
    }

    /// Sets every byte to `value`.
    ///
    /// # Errors
    /// What the runtime returns.
    pub fn fill(&mut self, value: u8) -> Result<(), CallError> {
        // SAFETY: the buffer holds `len` bytes.
        let code = unsafe { (self.runtime.api.memset)(self.pointer, c_int::from(value), self.len) };
        self.runtime.api.check(code, "hipMemset")
    }

    /// Copies the whole of it back, after the work of the default stream.
    ///
    /// # Errors
    /// What the runtime returns: a kernel that faulted shows up here.
    pub fn read(&self) -> Result<Vec<u8>, CallError> {
        self.read_first(self.len)
    }

    /// Copies its first `len` bytes back, after the work of the default stream.
    ///
    /// # Errors
    /// As [`Self::read`].
    ///
    /// # Panics
    /// If it is shorter.
    pub fn read_first(&self, len: usize) -> Result<Vec<u8>, CallError> {
        assert!(len <= self.len, "{len} bytes are more than {}", self.len);
        let mut bytes = vec![0_u8; len];
        // SAFETY: both sides hold `len` bytes.
        let code = unsafe {
            (self.runtime.api.memcpy)(bytes.as_mut_ptr().cast(), self.pointer, len, DEVICE_TO_HOST)
        };
        self.runtime.api.check(code, "hipMemcpy")?;
        Ok(bytes)
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        // SAFETY: the pointer came from hipMalloc and is freed once. A failure leaves nothing to do.
        unsafe { (self.runtime.api.free)(self.pointer) };
    }
}
