//! Streams: queues of work on a device.

use crate::api::NOT_READY;
use crate::{CallError, Runtime};
use std::ffi::c_void;

/// A queue on the device that was current when it was made.
pub struct Stream {
    pub(crate) runtime: Runtime,
    pub(crate) handle: *mut c_void,
    /// Whether it is destroyed with this value.
    is_own: bool,
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
        Ok(Stream { runtime: self.clone(), handle, is_own: true })
    }

    /// The default stream of the current device.
    pub fn default_stream(&self) -> Stream {
        Stream { runtime: self.clone(), handle: std::ptr::null_mut(), is_own: false }
    }

    /// A stream that somebody else made and destroys, by its `hipStream_t`.
    ///
    /// # Safety
    /// The handle is null or came from this runtime, and lives as long as the value.
    pub unsafe fn borrowed_stream(&self, handle: *mut c_void) -> Stream {
        Stream { runtime: self.clone(), handle, is_own: false }
    }
}

impl Stream {
    /// Its handle as a number, to tell streams apart.
    pub fn address(&self) -> usize {
        self.handle.addr()
    }

    /// Whether all its work is done. It also enters the driver, which is what makes writes of the device to mapped memory visible on Windows
    /// (facts/strata.md 1.6).
    ///
    /// # Errors
    /// What the runtime returns.
    pub fn is_done(&self) -> Result<bool, CallError> {
        // SAFETY: the handle came from hipStreamCreate, or is null or borrowed, and lives.
        match unsafe { (self.runtime.api.stream_query)(self.handle) } {
            NOT_READY => Ok(false),
            code => self.runtime.api.check(code, "hipStreamQuery").map(|()| true),
        }
    }

    /// Whether what is queued on it is recorded into a graph instead of run; no runtime without graphs does.
    ///
    /// # Errors
    /// What the runtime returns.
    pub fn is_recording(&self) -> Result<bool, CallError> {
        let Some(is_capturing) = self.runtime.api.stream_is_capturing else { return Ok(false) };
        let mut status = 0;
        // SAFETY: the stream lives, or is null or borrowed; the pointer is to a live integer.
        let code = unsafe { is_capturing(self.handle, &raw mut status) };
        self.runtime.api.check(code, "hipStreamIsCapturing").map(|()| status != 0)
    }

    /// Waits until all its work is done.
    ///
    /// # Errors
    /// What the runtime returns: a kernel that faulted shows up here.
    pub fn synchronize(&self) -> Result<(), CallError> {
        // SAFETY: the handle came from hipStreamCreate, or is null or borrowed, and lives.
        let code = unsafe { (self.runtime.api.stream_synchronize)(self.handle) };
        self.runtime.api.check(code, "hipStreamSynchronize")
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.is_own {
            // SAFETY: the handle came from hipStreamCreate and is destroyed once. A failure leaves nothing to do.
            unsafe { (self.runtime.api.stream_destroy)(self.handle) };
        }
    }
}
