//! Code objects on the device, and starting their kernels.

use crate::image::is_whole_elf;
use crate::{CallError, Runtime, Stream};
use std::ffi::{CString, c_void};
use std::sync::Arc;

/// `HIP_LAUNCH_PARAM_BUFFER_POINTER`.
const BUFFER_POINTER: usize = 1;
/// `HIP_LAUNCH_PARAM_BUFFER_SIZE`.
const BUFFER_SIZE: usize = 2;
/// `HIP_LAUNCH_PARAM_END`.
const END: usize = 3;
/// `hipErrorInvalidImage`.
const INVALID_IMAGE: i32 = 200;

/// A code object that was loaded on a device.
#[derive(Clone)]
pub struct Module(Arc<Loaded>);

struct Loaded {
    runtime: Runtime,
    handle: *mut c_void,
}

// SAFETY: the handle is opaque, and the runtime's functions may be called from any thread.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

/// A kernel of a module. It keeps the module loaded.
#[derive(Clone)]
pub struct Function {
    module: Module,
    handle: *mut c_void,
}

// SAFETY: as for `Loaded`.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// How many threads a kernel is started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// LDS of a block beyond what the kernel always takes, in bytes.
    pub lds: u32,
}

/// A kernel's argument block: what a C structure of the same members holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments(Vec<u8>);

impl Runtime {
    /// Loads a bare code object on the current device.
    ///
    /// # Errors
    /// `hipErrorNoBinaryForGpu` or the like for another target's; `hipErrorInvalidImage` for bytes that are no whole ELF file.
    pub fn load_module(&self, code_object: &[u8]) -> Result<Module, CallError> {
        if !is_whole_elf(code_object) {
            return Err(CallError {
                function: "hipModuleLoadData",
                code: INVALID_IMAGE,
                name: "hipErrorInvalidImage".into(),
                message: "the bytes are no whole ELF file".into(),
            });
        }
        let mut handle = std::ptr::null_mut();
        // SAFETY: the runtime is not told a length and reads as far as the ELF tables reach; that is within the bytes.
        let code = unsafe { (self.api.module_load_data)(&raw mut handle, code_object.as_ptr().cast()) };
        self.api.check(code, "hipModuleLoadData")?;
        Ok(Module(Arc::new(Loaded { runtime: self.clone(), handle })))
    }
}

impl Module {
    /// Finds a kernel.
    ///
    /// # Errors
    /// `hipErrorNotFound`.
    pub fn function(&self, name: &str) -> Result<Function, CallError> {
        let api = &self.0.runtime.api;
        let mut handle = std::ptr::null_mut();
        // A name cannot hold a NUL; the empty one is never found.
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the module lives, the name ends with NUL, the pointer is to a live pointer.
        let code = unsafe { (api.module_get_function)(&raw mut handle, self.0.handle, name.as_ptr()) };
        api.check(code, "hipModuleGetFunction")?;
        Ok(Function { module: self.clone(), handle })
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the handle came from hipModuleLoadData and is unloaded once. A failure leaves nothing to do.
        unsafe { (self.runtime.api.module_unload)(self.handle) };
    }
}

impl Function {
    /// Queues the kernel on `stream`; the arguments are copied before it returns.
    ///
    /// A wrong argument block can spoil other buffers on the device or make the kernel fault, which later calls report. It cannot reach other memory of
    /// this process than [`crate::MappedWords`], which are atomics. So it is a safe function.
    ///
    /// # Errors
    /// What the runtime returns, e.g. for a block that is larger than the kernel allows.
    pub fn launch(&self, stream: &Stream, launch: Launch, arguments: &Arguments) -> Result<(), CallError> {
        let Launch { grid, block, lds } = launch;
        let mut size = arguments.0.len();
        let mut extra: [*mut c_void; 5] = [
            std::ptr::without_provenance_mut(BUFFER_POINTER),
            arguments.0.as_ptr().cast_mut().cast(),
            std::ptr::without_provenance_mut(BUFFER_SIZE),
            (&raw mut size).cast(),
            std::ptr::without_provenance_mut(END),
        ];
        let api = &self.module.0.runtime.api;
        // SAFETY: function and stream live; `extra` is the list that the header describes, and the runtime only reads the block it points to.
        let code = unsafe {
            (api.module_launch_kernel)(
                self.handle,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                lds,
                stream.handle,
                std::ptr::null_mut(),
                extra.as_mut_ptr(),
            )
        };
        api.check(code, "hipModuleLaunchKernel")
    }
}

impl Arguments {
    /// An empty block.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an address on the device.
    #[must_use]
    pub fn address(self, address: u64) -> Self {
        self.with(address.to_le_bytes())
    }

    /// Appends an `int`.
    #[must_use]
    pub fn i32(self, value: i32) -> Self {
        self.with(value.to_le_bytes())
    }

    /// Appends an `unsigned`.
    #[must_use]
    pub fn u32(self, value: u32) -> Self {
        self.with(value.to_le_bytes())
    }

    /// Appends a `long` of 64 bits.
    #[must_use]
    pub fn i64(self, value: i64) -> Self {
        self.with(value.to_le_bytes())
    }

    /// Appends a `float`.
    #[must_use]
    pub fn f32(self, value: f32) -> Self {
        self.with(value.to_le_bytes())
    }

    /// The block so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// A member lies at a multiple of its own size, as in C.
    fn with<const N: usize>(mut self, bytes: [u8; N]) -> Self {
        self.0.resize(self.0.len().next_multiple_of(N), 0);
        self.0.extend_from_slice(&bytes);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_aligned_as_in_c() {
        let block = Arguments::new().u32(1).address(2).f32(1.0).i64(-1);
        let expected: Vec<u8> = [1_u32, 0, 2, 0, 0x3f80_0000, 0, u32::MAX, u32::MAX]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        assert_eq!(block.as_bytes(), expected);
    }
}
