//! The C functions, as hip_runtime_api.h declares them.
//!
//! Each is called by `crates/hip` alone, which keeps the header's rules: pointers to live memory of the size that the call names, strings that end
//! with NUL. That is what the SAFETY lines below mean by "the caller's".

use crate::device::Work;
use crate::mapped::{Mapped, Visible};
use crate::pending;
use crate::state::{
    CAPTURE_INVALIDATED, Code, Function, INVALID_DEVICE, INVALID_VALUE, NO_DEVICE, NOT_FOUND, NOT_READY,
    SUCCESS, State, Stream, running, state,
};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::Arc;

type Handle = *mut c_void;

fn handle(number: usize) -> Handle {
    std::ptr::without_provenance_mut(number)
}

/// # Safety
/// `out` is the caller's.
unsafe fn put<T>(out: *mut T, value: T) -> Code {
    // SAFETY: the caller's.
    unsafe { out.write(value) };
    SUCCESS
}

/// # Safety
/// `out` has room for `len` bytes, the caller's.
unsafe fn put_text(out: *mut c_char, len: c_int, text: &str) -> Code {
    let bytes = &text.as_bytes()[..text.len().min(len.max(1) as usize - 1)];
    // SAFETY: at most `len` bytes with the NUL, the caller's.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), out.cast(), bytes.len());
        out.add(bytes.len()).write(0);
    }
    SUCCESS
}

fn with_device(ordinal: c_int, call: impl FnOnce(&State, usize) -> Code) -> Code {
    let state = state();
    match usize::try_from(ordinal).ok().filter(|number| *number < state.devices.len()) {
        Some(number) => call(&state, number),
        None => INVALID_DEVICE,
    }
}

/// A C function of this library. Its body is unsafe code over arguments that are the caller's.
macro_rules! export {
    ($($name:ident($($argument:ident: $kind:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $kind),*) -> Code $body
    )*};
}

#[unsafe(no_mangle)]
extern "C" fn hipGetErrorName(code: c_int) -> *const c_char {
    let name = match code {
        0 => c"hipSuccess",
        1 => c"hipErrorInvalidValue",
        2 => c"hipErrorOutOfMemory",
        100 => c"hipErrorNoDevice",
        101 => c"hipErrorInvalidDevice",
        200 => c"hipErrorInvalidImage",
        209 => c"hipErrorNoBinaryForGpu",
        500 => c"hipErrorNotFound",
        600 => c"hipErrorNotReady",
        719 => c"hipErrorLaunchFailure",
        900 => c"hipErrorStreamCaptureUnsupported",
        901 => c"hipErrorStreamCaptureInvalidated",
        _ => c"hipErrorUnknown",
    };
    name.as_ptr()
}

/// What the interpreter found, of the last call that failed.
#[unsafe(no_mangle)]
extern "C" fn hipGetErrorString(_code: c_int) -> *const c_char {
    thread_local!(static TEXT: RefCell<CString> = RefCell::default());
    let text = CString::new(state().trouble.replace('\0', "")).unwrap_or_default();
    TEXT.with_borrow_mut(|kept| {
        *kept = text;
        kept.as_ptr()
    })
}

// SAFETY, of all bodies: pointers are the caller's (see the top of this file).
export! {
    hipDriverGetVersion(out: *mut c_int) { unsafe { put(out, 70_000_000) } }
    hipRuntimeGetVersion(out: *mut c_int) { unsafe { put(out, 70_000_000) } }
    hipGetDeviceCount(out: *mut c_int) {
        let count = state().devices.len() as c_int;
        unsafe { put(out, count) };
        if count == 0 { NO_DEVICE } else { SUCCESS }
    }
    hipSetDevice(ordinal: c_int) {
        let code = with_device(ordinal, |_, _| SUCCESS);
        if code == SUCCESS {
            state().current = ordinal as usize;
        }
        code
    }
    hipGetDevice(out: *mut c_int) {
        let current = state().current as c_int;
        unsafe { put(out, current) }
    }
    hipDeviceGetName(out: *mut c_char, len: c_int, ordinal: c_int) {
        with_device(ordinal, |state, number| {
            unsafe { put_text(out, len, &format!("simulated {}", state.devices[number].target)) }
        })
    }
    hipDeviceTotalMem(out: *mut usize, ordinal: c_int) {
        with_device(ordinal, |state, number| unsafe { put(out, state.devices[number].total as usize) })
    }
    hipDeviceGetAttribute(out: *mut c_int, attribute: c_int, ordinal: c_int) {
        with_device(ordinal, |_, _| match attribute {
            16 => unsafe { put(out, 0) },
            // Few multiprocessors, so that small problems are split too.
            63 => unsafe { put(out, 8) },
            87 => unsafe { put(out, 32) },
            _ => INVALID_VALUE,
        })
    }
    hipDeviceGetPCIBusId(out: *mut c_char, len: c_int, ordinal: c_int) {
        with_device(ordinal, |_, number| unsafe { put_text(out, len, &format!("0000:{:02x}:00.0", number + 3)) })
    }
    hipGetDevicePropertiesR0600(out: *mut c_void, ordinal: c_int) {
        with_device(ordinal, |state, number| unsafe {
            // gcnArchName lies there in the real structure.
            put_text(out.cast::<c_char>().add(1160), 256, state.devices[number].target.name())
        })
    }
    hipMemGetInfo(free: *mut usize, total: *mut usize) {
        let state = state();
        let device = &state.devices[state.current];
        unsafe { put(free, device.free() as usize); put(total, device.total as usize) }
    }
    hipMalloc(out: *mut Handle, size: usize) {
        match state().allocate(size.max(1)) {
            Ok(address) => unsafe { put(out, handle(address as usize)) },
            Err(code) => code,
        }
    }
    hipFree(pointer: Handle) {
        if pointer.is_null() {
            return SUCCESS;
        }
        let mut state = state();
        let device = state.device_at(pointer as u64);
        match device.map(|device| (device.memory.release(pointer as u64), device)) {
            Some((Ok(bytes), device)) => {
                device.used -= bytes;
                SUCCESS
            }
            _ => state.failed(INVALID_VALUE, "hipFree of what is no begin of an allocation"),
        }
    }
    hipMemcpy(to: *mut c_void, from: *const c_void, size: usize, kind: c_int) {
        let mut state = state();
        if let Some(code) = state.refuses("hipMemcpy") {
            return code;
        }
        match kind {
            1 => {
                let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size) };
                copy_in(&mut state, to as u64, bytes)
            }
            2 => match copy_out(&mut state, from as u64, size) {
                Ok(bytes) => {
                    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), size) };
                    SUCCESS
                }
                Err(code) => code,
            },
            _ => INVALID_VALUE,
        }
    }
    hipMemcpyPeer(to: *mut c_void, to_device: c_int, from: *const c_void, from_device: c_int, size: usize) {
        let mut state = state();
        state.log(&format!("copy {from_device} {to_device}"));
        match copy_out(&mut state, from as u64, size) {
            Ok(bytes) => copy_in(&mut state, to as u64, &bytes),
            Err(code) => code,
        }
    }
    hipMemset(to: *mut c_void, value: c_int, size: usize) {
        copy_in(&mut state(), to as u64, &vec![value as u8; size])
    }
    hipHostMalloc(out: *mut Handle, size: usize, _flags: c_uint) {
        let mut state = state();
        if state.visible == Visible::Never {
            return state.failed(INVALID_VALUE, "this device does not see memory of the host");
        }
        let number = state.current;
        let mapped = Mapped::new(size, number, &mut state.devices);
        let host = mapped.host.as_ptr().cast_mut().cast();
        state.mapped.push(mapped);
        unsafe { put(out, host) }
    }
    hipHostFree(host: Handle) {
        let mut state = state();
        state.mapped.retain(|mapped| mapped.host.as_ptr().addr() != host.addr());
        SUCCESS
    }
    hipHostGetDevicePointer(out: *mut Handle, host: Handle, _flags: c_uint) {
        let state = state();
        match state.mapped.iter().find(|mapped| mapped.host.as_ptr().addr() == host.addr()) {
            Some(mapped) => unsafe { put(out, handle(mapped.address as usize)) },
            None => INVALID_VALUE,
        }
    }
    hipModuleLoadData(out: *mut Handle, image: *const c_void) {
        // Its length is what its own header says; crates/hip has checked that the bytes are all there.
        let bytes = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), image_size(image.cast())) };
        match state().load(bytes) {
            Ok(number) => unsafe { put(out, handle(number)) },
            Err(code) => code,
        }
    }
    hipModuleUnload(module: Handle) {
        match state().modules.get_mut(module.addr().wrapping_sub(1)) {
            Some(module) => { *module = None; SUCCESS }
            None => INVALID_VALUE,
        }
    }
    hipModuleGetFunction(out: *mut Handle, module: Handle, name: *const c_char) {
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        let mut state = state();
        let Some(Some(module)) = state.modules.get(module.addr().wrapping_sub(1)) else { return INVALID_VALUE };
        if !module.program.kernels().any(|kernel| kernel == name) {
            return state.failed(NOT_FOUND, format!("there is no kernel `{name}`"));
        }
        let function = Function { module: module.clone(), name };
        state.functions.push(Arc::new(function));
        unsafe { put(out, handle(state.functions.len())) }
    }
    hipModuleLaunchKernel(
        function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, lds: c_uint,
        stream: Handle, parameters: *mut Handle, extra: *mut Handle
    ) {
        let mut state = state();
        let Some(function) = state.functions.get(function.addr().wrapping_sub(1)).cloned() else { return INVALID_VALUE };
        if !parameters.is_null() || extra.is_null() {
            return state.failed(INVALID_VALUE, "arguments come as one block here");
        }
        // HIP_LAUNCH_PARAM_BUFFER_POINTER, the block, HIP_LAUNCH_PARAM_BUFFER_SIZE, its size, HIP_LAUNCH_PARAM_END.
        let arguments = unsafe {
            let size = *(*extra.add(3)).cast::<usize>();
            std::slice::from_raw_parts((*extra.add(1)).cast::<u8>(), size).to_vec()
        };
        let work = Work { function, grid: [gx, gy, gz], block: [bx, by, bz], lds, arguments };
        if let Some(Stream { recording: Some(recorded) }) = state.streams.get_mut(stream.addr().wrapping_sub(1)) {
            recorded.push(work);
            return SUCCESS;
        }
        state.run(&work)
    }
    hipStreamCreate(out: *mut Handle) {
        let mut state = state();
        state.streams.push(Stream::default());
        unsafe { put(out, handle(state.streams.len())) }
    }
    hipStreamDestroy(_stream: Handle) { SUCCESS }
    hipStreamSynchronize(_stream: Handle) {
        let mut state = state();
        if let Some(code) = state.refuses("hipStreamSynchronize") {
            return code;
        }
        state.publish();
        std::mem::take(&mut state.fault)
    }
    hipStreamQuery(_stream: Handle) {
        if !pending::query() {
            return NOT_READY;
        }
        running().publish();
        SUCCESS
    }
    hipGetLastError() { SUCCESS }
    hipStreamBeginCapture(stream: Handle, _mode: c_int) {
        match state().streams.get_mut(stream.addr().wrapping_sub(1)) {
            Some(stream) => { stream.recording = Some(Vec::new()); SUCCESS }
            None => INVALID_VALUE,
        }
    }
    hipStreamIsCapturing(stream: Handle, out: *mut c_int) {
        let state = state();
        let stream = state.streams.get(stream.addr().wrapping_sub(1));
        let is_recording = stream.is_some_and(|stream| stream.recording.is_some());
        unsafe { put(out, is_recording.into()) }
    }
    hipStreamEndCapture(stream: Handle, out: *mut Handle) {
        let mut state = state();
        let stream = state.streams.get_mut(stream.addr().wrapping_sub(1));
        let Some(recorded) = stream.and_then(|stream| stream.recording.take()) else { return INVALID_VALUE };
        if state.ends_no_capture {
            return state.failed(CAPTURE_INVALIDATED, "STRATA_SIM_END_CAPTURE");
        }
        state.graphs.push(recorded);
        unsafe { put(out, handle(state.graphs.len())) }
    }
    hipGraphInstantiate(out: *mut Handle, graph: Handle, _node: *mut Handle, _log: *mut c_char, _size: usize) {
        unsafe { put(out, graph) }
    }
    hipGraphDestroy(_graph: Handle) { SUCCESS }
    hipGraphExecDestroy(_graph: Handle) { SUCCESS }
    hipGraphLaunch(graph: Handle, _stream: Handle) {
        let state = state();
        let number = graph.addr().wrapping_sub(1);
        if number >= state.graphs.len() {
            return INVALID_VALUE;
        }
        state.log("graph");
        State::start(number);
        SUCCESS
    }
}

fn copy_in(state: &mut State, to: u64, bytes: &[u8]) -> Code {
    if bytes.is_empty() {
        return SUCCESS;
    }
    let written = state.device_at(to).map(|device| device.memory.write(to, bytes));
    match written {
        Some(Ok(())) => SUCCESS,
        _ => {
            state.failed(INVALID_VALUE, format!("{} bytes at {to:#x} are not in one allocation", bytes.len()))
        }
    }
}

/// What was never written is no number to read.
fn copy_out(state: &mut State, from: u64, size: usize) -> Result<Vec<u8>, Code> {
    if size == 0 {
        return Ok(Vec::new());
    }
    match state.device_at(from).map(|device| device.memory.read(from, size)) {
        Some(Ok((bytes, defined))) => match defined.iter().position(|is_defined| !is_defined) {
            None => Ok(bytes),
            Some(at) => Err(state.failed(INVALID_VALUE, format!("byte {at} of {size} was never written"))),
        },
        _ => Err(state.failed(INVALID_VALUE, format!("{size} bytes at {from:#x} are not in one allocation"))),
    }
}

/// Where the section table of an ELF file ends: it is its last part as lld writes it.
///
/// # Safety
/// `image` is a whole ELF file.
unsafe fn image_size(image: *const u8) -> usize {
    // SAFETY: the header's 64 bytes are there.
    let header = unsafe { std::slice::from_raw_parts(image, 64) };
    let number = |at: usize, len: usize| {
        header[at..at + len].iter().rev().fold(0_usize, |value, byte| value << 8 | usize::from(*byte))
    };
    number(40, 8) + number(58, 2) * number(60, 2)
}
