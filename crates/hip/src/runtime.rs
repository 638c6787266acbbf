//! The loaded runtime.

use crate::api::{Api, NO_DEVICE};
use crate::{CallError, LoadError, library};
use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The HIP runtime. A clone is another handle to the same library.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) api: Arc<Api>,
}

/// A device that is the current one for a while; see [`Runtime::enter`].
pub struct Entered {
    runtime: Runtime,
    before: u32,
    number: u32,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if self.before != self.number {
            // It was the current one: a failure leaves nothing to do.
            let _ = self.runtime.set_device(self.before);
        }
    }
}

impl Runtime {
    /// Loads the runtime of this machine. One that this process has loaded already, as torch has its own, is taken first: streams and memory of one
    /// mean nothing to another. Else `amdhip64_7.dll`, then `amdhip64_6.dll`; on Linux `libamdhip64.so.7`, `.so.6`, `.so`. On Linux in the system's
    /// search order; on Windows beside the program, then in System32, where the driver's is.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] with every name and what the loader said, or [`LoadError::Symbol`].
    pub fn load() -> Result<Self, LoadError> {
        library::load_any().map(|api| Self { api: Arc::new(api) })
    }

    /// Loads the library at `path`.
    ///
    /// # Errors
    /// Those of [`Self::load`].
    pub fn load_from(path: &Path) -> Result<Self, LoadError> {
        library::load_runtime([path]).map(|api| Self { api: Arc::new(api) })
    }

    /// Where the loaded library lies, when the system says.
    pub fn path(&self) -> Option<PathBuf> {
        library::path_of(&self.api)
    }

    /// `hipDriverGetVersion`, as the runtime numbers it.
    ///
    /// # Errors
    /// What the runtime returns.
    pub fn driver_version(&self) -> Result<i32, CallError> {
        let mut version: c_int = 0;
        // SAFETY: the pointer is to a live integer.
        let code = unsafe { (self.api.driver_get_version)(&raw mut version) };
        self.api.check(code, "hipDriverGetVersion").map(|()| version)
    }

    /// `hipRuntimeGetVersion`: major * 10,000,000 + minor * 100,000 + patch.
    ///
    /// # Errors
    /// What the runtime returns.
    pub fn runtime_version(&self) -> Result<i32, CallError> {
        let mut version: c_int = 0;
        // SAFETY: the pointer is to a live integer.
        let code = unsafe { (self.api.runtime_get_version)(&raw mut version) };
        self.api.check(code, "hipRuntimeGetVersion").map(|()| version)
    }

    /// How many devices are visible; `hipErrorNoDevice` is none.
    ///
    /// # Errors
    /// Any other error, e.g. a driver that is too old.
    pub fn device_count(&self) -> Result<u32, CallError> {
        let mut count: c_int = 0;
        // SAFETY: the pointer is to a live integer.
        let code = unsafe { (self.api.get_device_count)(&raw mut count) };
        if code == NO_DEVICE {
            return Ok(0);
        }
        self.api.check(code, "hipGetDeviceCount")?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    /// Makes a device the current one of this thread: memory, modules and streams are made on it.
    ///
    /// # Errors
    /// `hipErrorInvalidDevice`.
    pub fn set_device(&self, number: u32) -> Result<(), CallError> {
        // SAFETY: takes any number.
        let code = unsafe { (self.api.set_device)(c_int::try_from(number).unwrap_or(c_int::MAX)) };
        self.api.check(code, "hipSetDevice")
    }

    /// The current device of this thread.
    ///
    /// # Errors
    /// What the runtime returns.
    pub fn current_device(&self) -> Result<u32, CallError> {
        let mut number: c_int = 0;
        // SAFETY: the pointer is to a live integer.
        let code = unsafe { (self.api.get_device)(&raw mut number) };
        self.api.check(code, "hipGetDevice")?;
        Ok(u32::try_from(number).unwrap_or(0))
    }

    /// Makes a device the current one of this thread until the value is dropped: then it is the one that it was.
    ///
    /// # Errors
    /// `hipErrorInvalidDevice`.
    pub fn enter(&self, number: u32) -> Result<Entered, CallError> {
        let before = self.current_device()?;
        if before != number {
            self.set_device(number)?;
        }
        Ok(Entered { runtime: self.clone(), before, number })
    }

    /// Forgets the error of an earlier call. Libraries on top of the runtime can leave one behind although they succeeded (facts/strata.md 1.6).
    pub fn clear_last_error(&self) {
        // SAFETY: takes nothing; the code that it returns is the one that is to be forgotten.
        unsafe { (self.api.get_last_error)() };
    }
}
