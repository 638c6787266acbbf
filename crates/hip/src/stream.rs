//! Streams: queues of work on a device.

use crate::{CallError, Runtime};
use std::ffi::c_void;

/// A queue on the device that was current when it was made.
pub struct Stream {
    runtime: Runtime,
    pub(crate) handle: *mut c_void,
}

// SAFETY: the handle is opaque, and the runtime's functions may be called from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Runtime {
    /// Makes a stream on the current device.
    ///
    /// # Errors
    /// What the runtime returns.
    pub fn stream(&self) -> Result<Stream, CallError> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the pointer is to a live pointer.
        let code = unsafe { (self.api.stream_create)(&raw mut handle) };
        self.api.check(code, "hipStreamCreate")?;
        Ok(Stream { runtime: self.clone(), handle })
    }
}

impl Stream {
    /// Waits until all its work is done.
    ///
    /// # Errors
    /// What the runtime returns: a kernel that faulted shows up here.
    pub fn synchronize(&self) -> Result<(), CallError> {
        // SAFETY: the handle came from hipStreamCreate and lives.
        let code = unsafe { (self.runtime.api.stream_synchronize)(self.handle) };
        self.runtime.api.check(code, "hipStreamSynchronize")
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the handle came from hipStreamCreate and is destroyed once. A failure leaves nothing to do.
        unsafe { (self.runtime.api.stream_destroy)(self.handle) };
    }
}
