//! The functions that are called, as hip_runtime_api.h declares them.
//!
//! Only functions and numbers that are the same in amdhip64 6 and 7 stand here. `hipGetDeviceProperties` is not among them: its structure grew,
//! so the header renames it by version; see `device.rs` for the one field that can be had no other way.

use crate::{CallError, LoadError};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::path::PathBuf;

/// `hipDeviceAttributeIntegrated`.
pub(crate) const INTEGRATED: c_int = 16;
/// `hipDeviceAttributeMultiprocessorCount`.
pub(crate) const MULTIPROCESSOR_COUNT: c_int = 63;
/// `hipDeviceAttributeWarpSize`.
pub(crate) const WARP_SIZE: c_int = 87;

/// `hipHostMallocMapped`.
pub(crate) const HOST_MALLOC_MAPPED: c_uint = 2;
/// `hipStreamCaptureModeRelaxed`.
pub(crate) const CAPTURE_RELAXED: c_int = 2;
/// `hipErrorNotReady`.
pub(crate) const NOT_READY: c_int = 600;

/// `hipMemcpyHostToDevice`.
pub(crate) const HOST_TO_DEVICE: c_int = 1;
/// `hipMemcpyDeviceToHost`.
pub(crate) const DEVICE_TO_HOST: c_int = 2;

/// `hipErrorInvalidValue`.
pub(crate) const INVALID_VALUE: c_int = 1;
/// `hipErrorOutOfMemory`.
pub(crate) const OUT_OF_MEMORY: c_int = 2;
/// `hipErrorNoDevice`.
pub(crate) const NO_DEVICE: c_int = 100;

type Handle = *mut c_void;

macro_rules! api {
    (
        required { $($field:ident = $symbol:literal: fn($($argument:ty),*);)* }
        optional { $($extra:ident = $extra_symbol:literal: fn($($extra_argument:ty),*);)* }
    ) => {
        /// The runtime's entry points.
        pub(crate) struct Api {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
            $(pub(crate) $extra: Option<unsafe extern "C" fn($($extra_argument),*) -> c_int>,)*
            error_name: unsafe extern "C" fn(c_int) -> *const c_char,
            error_string: unsafe extern "C" fn(c_int) -> *const c_char,
            /// Never unloaded: the runtime has threads of its own, and unloading it while they end hangs or crashes.
            _library: ManuallyDrop<Library>,
        }

        impl Api {
            /// Finds every entry point; `path` is for the error.
            pub(crate) fn of(library: Library, path: &std::path::Path) -> Result<Self, LoadError> {
                let missing = |symbol: &str| LoadError::Symbol { what: "HIP runtime", library: PathBuf::from(path), symbol: symbol.to_owned() };
                // SAFETY: each type is the one that hip_runtime_api.h declares for this symbol, and the library stays loaded as long as the
                // process runs.
                unsafe {
                    Ok(Self {
                        $($field: *library.get($symbol).map_err(|_| missing($symbol))?,)*
                        $($extra: library.get($extra_symbol).ok().map(|found| *found),)*
                        error_name: *library.get("hipGetErrorName").map_err(|_| missing("hipGetErrorName"))?,
                        error_string: *library.get("hipGetErrorString").map_err(|_| missing("hipGetErrorString"))?,
                        _library: ManuallyDrop::new(library),
                    })
                }
            }
        }
    };
}

api! {
    required {
        driver_get_version = "hipDriverGetVersion": fn(*mut c_int);
        runtime_get_version = "hipRuntimeGetVersion": fn(*mut c_int);
        get_device_count = "hipGetDeviceCount": fn(*mut c_int);
        set_device = "hipSetDevice": fn(c_int);
        get_device = "hipGetDevice": fn(*mut c_int);
        device_get_name = "hipDeviceGetName": fn(*mut c_char, c_int, c_int);
        device_total_mem = "hipDeviceTotalMem": fn(*mut usize, c_int);
        device_get_attribute = "hipDeviceGetAttribute": fn(*mut c_int, c_int, c_int);
        device_get_pci_bus_id = "hipDeviceGetPCIBusId": fn(*mut c_char, c_int, c_int);
        get_device_properties_r0600 = "hipGetDevicePropertiesR0600": fn(*mut c_void, c_int);
        mem_get_info = "hipMemGetInfo": fn(*mut usize, *mut usize);
        malloc = "hipMalloc": fn(*mut Handle, usize);
        free = "hipFree": fn(Handle);
        memcpy = "hipMemcpy": fn(*mut c_void, *const c_void, usize, c_int);
        memset = "hipMemset": fn(Handle, c_int, usize);
        module_load_data = "hipModuleLoadData": fn(*mut Handle, *const c_void);
        module_unload = "hipModuleUnload": fn(Handle);
        module_get_function = "hipModuleGetFunction": fn(*mut Handle, Handle, *const c_char);
        module_launch_kernel = "hipModuleLaunchKernel":
            fn(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut Handle, *mut Handle);
        stream_create = "hipStreamCreate": fn(*mut Handle);
        stream_destroy = "hipStreamDestroy": fn(Handle);
        stream_synchronize = "hipStreamSynchronize": fn(Handle);
        stream_query = "hipStreamQuery": fn(Handle);
        get_last_error = "hipGetLastError": fn();
        memcpy_peer = "hipMemcpyPeer": fn(*mut c_void, c_int, *const c_void, c_int, usize);
        host_malloc = "hipHostMalloc": fn(*mut Handle, usize, c_uint);
        host_free = "hipHostFree": fn(Handle);
        host_get_device_pointer = "hipHostGetDevicePointer": fn(*mut Handle, Handle, c_uint);
    }
    optional {
        stream_is_capturing = "hipStreamIsCapturing": fn(Handle, *mut c_int);
        stream_begin_capture = "hipStreamBeginCapture": fn(Handle, c_int);
        stream_end_capture = "hipStreamEndCapture": fn(Handle, *mut Handle);
        graph_instantiate = "hipGraphInstantiate": fn(*mut Handle, Handle, *mut Handle, *mut c_char, usize);
        graph_launch = "hipGraphLaunch": fn(Handle, Handle);
        graph_destroy = "hipGraphDestroy": fn(Handle);
        graph_exec_destroy = "hipGraphExecDestroy": fn(Handle);
    }
}

impl Api {
    /// Turns a `hipError_t` into a result; `function` is the C name of what returned it.
    pub(crate) fn check(&self, code: c_int, function: &'static str) -> Result<(), CallError> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: both take any number and return a string that lives as long as the library, or null.
        let (name, message) = unsafe { (text((self.error_name)(code)), text((self.error_string)(code))) };
        Err(CallError { function, code, name, message })
    }
}

/// # Safety
/// `pointer` is null or a string that ends with NUL.
unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
