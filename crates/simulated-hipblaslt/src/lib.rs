//! A hipBLASLt for the devices of `simulated-hip`: a program that loads it as `libhipblaslt.so.1` has its products computed on the CPU, from and to the memory of the
//! simulated device.
//!
//! It has the functions that `crates/hip` calls, says that it is version 1.2.3, and offers three algorithms, which give the same numbers. Each product is a
//! line of `STRATA_SIM_LOG`: `blas ROWSxCOLUMNSxCOUNT algorithm N`. `STRATA_SIM_BLAS_HEURISTIC`: the status that its heuristic gives for every product.
#![allow(unsafe_code)] // This crate is a C interface.

mod product;
mod runtime;

use product::{Element, Layout, Product};
use std::ffi::{c_int, c_void};

type Handle = *mut c_void;

/// `hipblasStatus_t`.
const SUCCESS: c_int = 0;
const INVALID_VALUE: c_int = 3;
const EXECUTION_FAILED: c_int = 6;
const NOT_SUPPORTED: c_int = 7;

/// major * 100,000 + minor * 100 + patch.
const VERSION: c_int = 100_203;
const ALGORITHMS: usize = 3;
/// `HIPBLASLT_MATMUL_DESC_TRANSA` and `HIPBLAS_OP_T`.
const TRANSPOSE_A: c_int = 0;
const TRANSPOSED: i32 = 112;

/// `hipblasLtMatmulDesc_t`: whether the first matrix is transposed.
#[derive(Default)]
struct Description {
    is_transposed: bool,
}

/// `hipblasLtMatmulHeuristicResult_t`.
#[repr(C)]
struct HeuristicResult {
    algorithm: [u64; 3],
    workspace: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

/// Gives a value to the caller, who destroys it.
///
/// # Safety
/// `out` is the caller's.
unsafe fn give<T>(out: *mut Handle, value: T) -> c_int {
    // SAFETY: the caller's.
    unsafe { out.write(Box::into_raw(Box::new(value)).cast()) };
    SUCCESS
}

/// # Safety
/// `handle` came from [`give`] with this type.
unsafe fn destroy<T>(handle: Handle) -> c_int {
    // SAFETY: as above; it is destroyed once.
    drop(unsafe { Box::from_raw(handle.cast::<T>()) });
    SUCCESS
}

macro_rules! export {
    ($($name:ident($($argument:ident: $kind:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $kind),*) -> c_int $body
    )*};
}

// SAFETY, of all bodies: `crates/hip` keeps the header's rules. Handles came from this library and live; pointers are to memory of the size that the call names.
export! {
    hipblasLtCreate(out: *mut Handle) { unsafe { give(out, ()) } }
    hipblasLtDestroy(handle: Handle) { unsafe { destroy::<()>(handle) } }
    hipblasLtGetVersion(_handle: Handle, out: *mut c_int) {
        unsafe { out.write(VERSION) };
        SUCCESS
    }
    hipblasLtMatrixLayoutCreate(out: *mut Handle, kind: c_int, rows: u64, columns: u64, stride: i64) {
        match (Element::of(kind), usize::try_from(stride)) {
            (Some(element), Ok(stride)) => {
                unsafe { give(out, Layout { element, rows: rows as usize, columns: columns as usize, stride }) }
            }
            _ => NOT_SUPPORTED,
        }
    }
    hipblasLtMatrixLayoutDestroy(layout: Handle) { unsafe { destroy::<Layout>(layout) } }
    hipblasLtMatmulDescCreate(out: *mut Handle, _compute: c_int, _scale: c_int) { unsafe { give(out, Description::default()) } }
    hipblasLtMatmulDescSetAttribute(description: Handle, attribute: c_int, value: *const c_void, size: usize) {
        if attribute != TRANSPOSE_A || size != size_of::<i32>() {
            return NOT_SUPPORTED;
        }
        let description = unsafe { &mut *description.cast::<Description>() };
        description.is_transposed = unsafe { value.cast::<i32>().read() } == TRANSPOSED;
        SUCCESS
    }
    hipblasLtMatmulDescDestroy(description: Handle) { unsafe { destroy::<Description>(description) } }
    hipblasLtMatmulPreferenceCreate(out: *mut Handle) { unsafe { give(out, ()) } }
    hipblasLtMatmulPreferenceDestroy(preference: Handle) { unsafe { destroy::<()>(preference) } }
    hipblasLtMatmulAlgoGetHeuristic(
        _handle: Handle, description: Handle, a: Handle, b: Handle, _c: Handle, d: Handle, _preference: Handle, wanted: c_int,
        out: *mut HeuristicResult, found: *mut c_int
    ) {
        if let Some(status) = std::env::var("STRATA_SIM_BLAS_HEURISTIC").ok().and_then(|status| status.parse().ok()) {
            return status;
        }
        let layout = |handle: Handle| unsafe { &*handle.cast::<Layout>() };
        let is_transposed = unsafe { (*description.cast::<Description>()).is_transposed };
        let product = Product { a: layout(a), b: layout(b), d: layout(d) };
        if !is_transposed || !product.is_possible() {
            return INVALID_VALUE;
        }
        let count = usize::try_from(wanted).unwrap_or(0).min(ALGORITHMS);
        for number in 0..count {
            let algorithm = [number as u64, 0, 0];
            let result = HeuristicResult { algorithm, workspace: 0, state: SUCCESS, waves: 1.0, reserved: [0; 4] };
            unsafe { out.add(number).write(result) };
        }
        unsafe { found.write(count as c_int) };
        SUCCESS
    }
    hipblasLtMatmul(
        _handle: Handle, _description: Handle, _alpha: *const f32, a: *const c_void, la: Handle, b: *const c_void, lb: Handle, _beta: *const f32,
        _c: *const c_void, _lc: Handle, d: *mut c_void, ld: Handle, algorithm: *const [u64; 3], _workspace: *mut c_void, _bytes: usize, stream: Handle
    ) {
        let layout = |handle: Handle| unsafe { &*handle.cast::<Layout>() };
        let product = Product { a: layout(la), b: layout(lb), d: layout(ld) };
        runtime::log(&format!("blas {product} algorithm {}", unsafe { (*algorithm)[0] }));
        match runtime::on_device(&product, [a as u64, b as u64, d as u64], stream) {
            Ok(()) => SUCCESS,
            Err(_) => EXECUTION_FAILED,
        }
    }
}
