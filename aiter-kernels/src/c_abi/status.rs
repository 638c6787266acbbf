use crate::interface::Error;
use std::cell::RefCell;
use std::ffi::{CString, c_char};

/// Everything was computed, or queued.
pub const AITER_OK: i32 = 0;
/// An argument does not fit; the message names it.
pub const AITER_INVALID_ARGUMENT: i32 = 1;
/// There is no such operation here, or no kernel for it on this GPU.
pub const AITER_UNSUPPORTED: i32 = 2;
/// The HIP runtime, the code objects or this library itself failed.
pub const AITER_RUNTIME_ERROR: i32 = 3;

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::new(CString::default());
}

/// The message of this thread's last call that failed; it lives until the next one that fails. Empty before the first.
#[unsafe(no_mangle)]
pub extern "C" fn aiter_last_error() -> *const c_char {
    LAST_ERROR.with_borrow(|message| message.as_ptr())
}

/// A result as C gets it.
pub(super) fn status(result: Result<(), Error>) -> i32 {
    let Err(error) = result else { return AITER_OK };
    // A message has no NUL in it: names and numbers.
    LAST_ERROR.replace(CString::new(error.to_string()).unwrap_or_default());
    match error {
        Error::Unsupported { .. } | Error::Dispatch(_) => AITER_UNSUPPORTED,
        Error::Load(_)
        | Error::Call(_)
        | Error::Card { .. }
        | Error::Recording { .. }
        | Error::CodeObject { .. }
        | Error::Bug { .. } => AITER_RUNTIME_ERROR,
        _ => AITER_INVALID_ARGUMENT,
    }
}
