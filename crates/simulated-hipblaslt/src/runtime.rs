//! The memory of the simulated device, through the runtime that the program has loaded.

use crate::product::Product;
use libloading::Library;
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::sync::OnceLock;

const TO_DEVICE: c_int = 1;
const TO_HOST: c_int = 2;

type Copy = unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int) -> c_int;
type Wait = unsafe extern "C" fn(*mut c_void) -> c_int;

struct Runtime {
    copy: Copy,
    wait: Wait,
    _library: Library,
}

/// A call of the runtime that failed.
pub(crate) struct Failed;

fn runtime() -> Option<&'static Runtime> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    let load = || {
        // SAFETY: the runtime of this name is loaded already: hipBLASLt is loaded for it. The types are those of hip_runtime_api.h.
        unsafe {
            let library = Library::new("libamdhip64.so.7").ok()?;
            let (copy, wait) = (*library.get("hipMemcpy").ok()?, *library.get("hipStreamSynchronize").ok()?);
            Some(Runtime { copy, wait, _library: library })
        }
    };
    RUNTIME.get_or_init(load).as_ref()
}

/// Adds a line to the log of the simulated runtime.
pub(crate) fn log(line: &str) {
    let Some(path) = std::env::var_os("STRATA_SIM_LOG") else { return };
    if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
        let _ = writeln!(file, "{line}");
    }
}

fn check(code: c_int) -> Result<(), Failed> {
    if code == 0 { Ok(()) } else { Err(Failed) }
}

/// Computes a product of matrices at these addresses of the device, after the work of the stream.
pub(crate) fn on_device(
    product: &Product<'_>,
    [a, b, d]: [u64; 3],
    stream: *mut c_void,
) -> Result<(), Failed> {
    let Runtime { copy, wait, .. } = runtime().ok_or(Failed)?;
    // SAFETY: the stream is the caller's and lives.
    check(unsafe { wait(stream) })?;
    let read = |address: u64, len: usize| {
        let mut bytes = vec![0_u8; len];
        // SAFETY: there are `len` bytes; the runtime checks the device's side.
        check(unsafe { copy(bytes.as_mut_ptr().cast(), address as *const c_void, len, TO_HOST) })
            .map(|()| bytes)
    };
    let numbers = product.compute(&read(a, product.a.bytes())?, &read(b, product.b.bytes())?);
    for (column, numbers) in numbers.chunks_exact(product.d.rows).enumerate() {
        let to = d + (column * product.d.stride * size_of::<f32>()) as u64;
        let len = size_of_val(numbers);
        // SAFETY: as above.
        check(unsafe { copy(to as *mut c_void, numbers.as_ptr().cast(), len, TO_DEVICE) })?;
    }
    Ok(())
}
