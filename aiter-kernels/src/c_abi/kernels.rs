use super::status::status;
use super::tensor::wrong;
use crate::interface::{Error, Kernels};
use hip::Stream;
use std::ffi::{CStr, c_char, c_void};
use std::path::PathBuf;

/// The operations, and what was loaded for them. Calls may come from any thread.
pub struct AiterKernels(Kernels);

/// The version of this interface: it grows with every change that a program which was compiled before would not survive.
pub const AITER_ABI_VERSION: i32 = 2;

/// `AITER_ABI_VERSION` of the library, to be compared with that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn aiter_abi_version() -> i32 {
    AITER_ABI_VERSION
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn aiter_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Opens the kernels. `folder` holds `<target>/aiter-kernels/*.co` (a release has it as `kernels`); null: the CPU alone. Nothing is loaded before a
/// call has tensors of a GPU. Never null; close it with `aiter_close`.
///
/// # Safety
/// `folder` is null or a string in UTF-8 that ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_open(folder: *const c_char) -> *mut AiterKernels {
    // SAFETY: not null here, and a string.
    let path = |folder| PathBuf::from(unsafe { CStr::from_ptr(folder) }.to_string_lossy().into_owned());
    let folder = (!folder.is_null()).then(|| path(folder));
    Box::into_raw(Box::new(AiterKernels(Kernels::new(folder))))
}

/// Closes kernels; null is nothing. Work that is queued must have ended.
///
/// # Safety
/// `kernels` is null or came from `aiter_open` and is closed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_close(kernels: *mut AiterKernels) {
    if !kernels.is_null() {
        // SAFETY: aiter_open made it from a box.
        drop(unsafe { Box::from_raw(kernels) });
    }
}

/// Makes a call on the caller's stream.
///
/// # Safety
/// `kernels` is null or came from `aiter_open`; `stream` is null or a stream of the HIP runtime.
pub(super) unsafe fn call(
    kernels: *const AiterKernels,
    stream: *mut c_void,
    make: impl FnOnce(&Kernels, Option<&Stream>) -> Result<(), Error>,
) -> i32 {
    // SAFETY: null or open.
    let Some(AiterKernels(kernels)) = (unsafe { kernels.as_ref() }) else {
        return status(Err(wrong("kernels", "what aiter_open gave", "null")));
    };
    // A panic must not reach the caller, whose language knows none.
    let make = |stream: Option<&Stream>| {
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| make(kernels, stream)));
        status(made.unwrap_or_else(|panic| Err(bug(&*panic))))
    };
    if stream.is_null() {
        return make(None);
    }
    // Without a runtime there is no tensor that a stream is for: the call itself will say so.
    // SAFETY: a stream that the caller keeps.
    let stream = kernels.with_runtime_of(|runtime| unsafe { runtime.borrowed_stream(stream) }).ok();
    make(stream.as_ref())
}

/// What a panic says, without a NUL.
fn bug(panic: &(dyn std::any::Any + Send)) -> Error {
    let words = panic.downcast_ref::<&str>().map(ToString::to_string);
    let words = words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Error::Bug { words: words.replace('\0', " ") }
}
