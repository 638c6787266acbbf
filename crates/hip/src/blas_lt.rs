//! hipBLASLt, loaded while the program runs: products of large matrices, where a ROCm install or a release has the library.
//!
//! Functions, numbers and structures: hipblaslt.h, as they are since ROCm 6.0. No workspace is given, so only algorithms that need none are chosen.

use crate::{LoadError, Runtime, Stream, library};
use libloading::Library;
use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

type Handle = *mut c_void;

/// As errors call it.
const WHAT: &str = "hipBLASLt";

/// `HIPBLAS_COMPUTE_32F`.
const COMPUTE_32F: c_int = 2;
/// `HIP_R_32F`.
const R_32F: c_int = 0;
/// `HIPBLASLT_MATMUL_DESC_TRANSA`.
const TRANSPOSE_A: c_int = 0;
/// `HIPBLAS_OP_T`.
const TRANSPOSED: i32 = 112;
/// Results that the heuristic is asked for where a tuning table chooses among them.
const MOST_CHOICES: usize = 32;

/// `hipblasLtMatmulHeuristicResult_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct HeuristicResult {
    algorithm: [u64; 3],
    workspace: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

macro_rules! api {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*);)*) => {
        struct Api {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
            /// Never unloaded: it registers code objects with the runtime.
            _library: ManuallyDrop<Library>,
        }

        impl Api {
            fn of(library: Library, path: &Path) -> Result<Self, LoadError> {
                let missing = |symbol: &str| LoadError::Symbol { what: WHAT, library: PathBuf::from(path), symbol: symbol.to_owned() };
                // SAFETY: each type is the one that hipblaslt.h declares for this symbol, and the library stays loaded as long as the process runs.
                unsafe {
                    Ok(Self {
                        $($field: *library.get($symbol).map_err(|_| missing($symbol))?,)*
                        _library: ManuallyDrop::new(library),
                    })
                }
            }
        }
    };
}

api! {
    create = "hipblasLtCreate": fn(*mut Handle);
    destroy = "hipblasLtDestroy": fn(Handle);
    get_version = "hipblasLtGetVersion": fn(Handle, *mut c_int);
    layout_create = "hipblasLtMatrixLayoutCreate": fn(*mut Handle, c_int, u64, u64, i64);
    layout_destroy = "hipblasLtMatrixLayoutDestroy": fn(Handle);
    description_create = "hipblasLtMatmulDescCreate": fn(*mut Handle, c_int, c_int);
    description_set = "hipblasLtMatmulDescSetAttribute": fn(Handle, c_int, *const c_void, usize);
    description_destroy = "hipblasLtMatmulDescDestroy": fn(Handle);
    preference_create = "hipblasLtMatmulPreferenceCreate": fn(*mut Handle);
    preference_destroy = "hipblasLtMatmulPreferenceDestroy": fn(Handle);
    heuristic = "hipblasLtMatmulAlgoGetHeuristic":
        fn(Handle, Handle, Handle, Handle, Handle, Handle, Handle, c_int, *mut HeuristicResult, *mut c_int);
    matmul = "hipblasLtMatmul":
        fn(Handle, Handle, *const f32, *const c_void, Handle, *const c_void, Handle, *const f32, *const c_void, Handle,
           *mut c_void, Handle, *const [u64; 3], *mut c_void, usize, Handle);
}

/// The type of the numbers that are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlasElement {
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
}

impl BlasElement {
    /// `HIP_R_16F`, `HIP_R_16BF`.
    fn id(self) -> c_int {
        match self {
            Self::F16 => 2,
            Self::Bf16 => 14,
        }
    }
}

/// `out[n, row] = weights[row, :] · x[n, :]`, out in f32. Addresses are the device's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // named by the formula
pub struct BlasProduct {
    pub element: BlasElement,
    pub out: u64,
    pub weights: u64,
    pub x: u64,
    pub columns: usize,
    pub rows: usize,
    pub count: usize,
    /// Floats from one n to the next.
    pub out_stride: usize,
}

/// A call that returned an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlasError {
    /// A status other than `HIPBLAS_STATUS_SUCCESS`.
    #[error("{function} failed with hipblasStatus_t {status}")]
    Status {
        /// The C function.
        function: &'static str,
        /// The `hipblasStatus_t`.
        status: i32,
    },
    /// It has no algorithm for this product, and nothing was queued.
    #[error("hipBLASLt has no algorithm number {choice} for this product: {reason}")]
    NoAlgorithm {
        /// Which of the heuristic's results was wanted.
        choice: usize,
        /// What it said.
        reason: String,
    },
}

/// hipBLASLt on the device that was current when it was made.
pub struct BlasLt {
    api: Api,
    runtime: Runtime,
    handle: Handle,
    path: PathBuf,
    is_windows: bool,
}

// SAFETY: the handle is opaque, and hipBLASLt's functions may be called from any thread.
unsafe impl Send for BlasLt {}
// SAFETY: as above.
unsafe impl Sync for BlasLt {}

/// The newest first.
#[cfg(windows)]
const NAMES: [&str; 2] = ["libhipblaslt.dll", "hipblaslt.dll"];
#[cfg(not(windows))]
const NAMES: [&str; 3] = ["libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"];

/// What is destroyed when it goes out of scope: a value of the library, and its function for that.
struct Owned(Handle, unsafe extern "C" fn(Handle) -> c_int);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the handle came from the function that belongs to this one, and is destroyed once. A failure leaves nothing to do.
        unsafe { (self.1)(self.0) };
    }
}

/// A product as the library knows it, and the algorithms that it found for it.
struct Planned {
    weights: Owned,
    x: Owned,
    out: Owned,
    description: Owned,
    found: Vec<HeuristicResult>,
}

fn check(status: c_int, function: &'static str) -> Result<(), BlasError> {
    if status == 0 { Ok(()) } else { Err(BlasError::Status { function, status }) }
}

/// The rule: an error that a successful call leaves behind in the runtime is forgotten on Windows, where the next launch would be blamed for it (facts/strata.md 1.6,
/// Strata #247, #325); what a failed call leaves is its own.
fn forgets_stale_error(is_windows: bool, status: c_int) -> bool {
    is_windows && status == 0
}

fn broken(library: &Path, reason: String) -> LoadError {
    LoadError::Broken { what: WHAT, library: library.to_owned(), reason }
}

impl BlasLt {
    /// Loads it for the current device: from the first of `folders` that has it; then on Windows from the folder of the loaded runtime, elsewhere by the system's
    /// search order.
    ///
    /// # Errors
    /// [`LoadError::NotFound`]: it is not there, which is no fault of the machine. Any other: it is there and does not work.
    pub fn load(runtime: &Runtime, folders: &[PathBuf]) -> Result<Self, LoadError> {
        let of = |library, path: &Path| Self::of(runtime, library, path);
        let beside =
            runtime.path().filter(|_| cfg!(windows)).and_then(|path| Some(path.parent()?.to_owned()));
        let in_folders =
            folders.iter().cloned().chain(beside).flat_map(|folder| NAMES.map(|name| folder.join(name)));
        let Some(there) = in_folders.into_iter().find(|path| path.is_file()) else {
            // Names are for Linux alone: Windows has no place for it, and what lies elsewhere on the search order is another's.
            let names = if cfg!(windows) { &[][..] } else { &NAMES[..] };
            return library::load_first(WHAT, names, of);
        };
        library::load_first(WHAT, [&there], of).map_err(|error| match error {
            LoadError::NotFound { attempts, .. } => {
                broken(&there, attempts.iter().map(|attempt| attempt.reason.as_str()).collect())
            }
            other => other,
        })
    }

    fn of(runtime: &Runtime, library: Library, path: &Path) -> Result<Self, LoadError> {
        let api = Api::of(library, path)?;
        // On Linux libraries find each other by their version.
        if let (true, [first, second, ..]) = (cfg!(windows), library::runtimes().as_slice()) {
            let (first, second) = (first.display(), second.display());
            return Err(broken(path, format!("there are two HIP runtimes: `{first}` and `{second}`")));
        }
        let mut handle = std::ptr::null_mut();
        // SAFETY: the pointer is to a live pointer.
        let status = unsafe { (api.create)(&raw mut handle) };
        if status != 0 {
            return Err(broken(path, format!("hipblasLtCreate failed with hipblasStatus_t {status}")));
        }
        // SAFETY: the address is one of the library's functions.
        let path = unsafe { library::path_of_address(api.create as *const c_void) };
        let path = path.unwrap_or_default();
        Ok(Self { api, runtime: runtime.clone(), handle, path, is_windows: cfg!(windows) })
    }

    /// As on Windows: for tests.
    #[must_use]
    pub fn clearing_stale_errors(mut self) -> Self {
        self.is_windows = true;
        self
    }

    /// Where it was loaded from; empty where the system does not say.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version: major * 100,000 + minor * 100 + patch.
    ///
    /// # Errors
    /// [`BlasError::Status`].
    pub fn version(&self) -> Result<i32, BlasError> {
        let mut version = 0;
        // SAFETY: the pointer is to a live integer.
        check(unsafe { (self.api.get_version)(self.handle, &raw mut version) }, "hipblasLtGetVersion")?;
        Ok(version)
    }

    /// Queues a product. `choice` is which of the heuristic's results is taken; 0 is the library's own choice.
    ///
    /// # Errors
    /// [`BlasError::NoAlgorithm`] for a product that it does not take, whatever it said to that; [`BlasError::Status`] for one that it took and failed to start.
    pub fn multiply(&self, stream: &Stream, product: &BlasProduct, choice: usize) -> Result<(), BlasError> {
        let refused = |reason: String| BlasError::NoAlgorithm { choice, reason };
        let planned = self.plan(product, choice).map_err(|error| refused(error.to_string()))?;
        let Planned { weights, x, out, description, found } = planned;
        let result = found.get(choice).ok_or_else(|| refused(format!("it has {}", found.len())))?;
        if result.state != 0 || result.workspace != 0 {
            return Err(refused(format!(
                "status {}, a workspace of {} bytes",
                result.state, result.workspace
            )));
        }
        let (one, zero) = (1.0_f32, 0.0_f32);
        let address = |address: u64| address as *const c_void;
        // SAFETY: all handles live; the addresses are the device's, and the caller vouches for their sizes as for a kernel's arguments.
        let status = unsafe {
            (self.api.matmul)(
                self.handle,
                description.0,
                &raw const one,
                address(product.weights),
                weights.0,
                address(product.x),
                x.0,
                &raw const zero,
                address(product.out),
                out.0,
                product.out as *mut c_void,
                out.0,
                &raw const result.algorithm,
                std::ptr::null_mut(),
                0,
                stream.handle,
            )
        };
        if forgets_stale_error(self.is_windows, status) {
            self.runtime.clear_last_error();
        }
        check(status, "hipblasLtMatmul")
    }

    /// Describes a product, and asks which algorithms there are up to number `choice`.
    fn plan(&self, product: &BlasProduct, choice: usize) -> Result<Planned, BlasError> {
        let BlasProduct { element, columns, rows, count, out_stride, .. } = *product;
        let api = &self.api;
        // In its own order, column by column: weights [columns, rows] transposed, times x [columns, count].
        let weights = self.layout(element.id(), [columns, rows], columns)?;
        let x = self.layout(element.id(), [columns, count], columns)?;
        let out = self.layout(R_32F, [rows, count], out_stride)?;
        let description = self.description()?;
        let mut preference = std::ptr::null_mut();
        // SAFETY: the pointer is to a live pointer.
        let status = unsafe { (api.preference_create)(&raw mut preference) };
        check(status, "hipblasLtMatmulPreferenceCreate")?;
        let preference = Owned(preference, api.preference_destroy);

        let wanted = if choice == 0 { 1 } else { MOST_CHOICES };
        let mut results = vec![HeuristicResult::default(); MOST_CHOICES];
        let mut count = 0;
        // SAFETY: all handles live; there is room for `wanted` results.
        let status = unsafe {
            (api.heuristic)(
                self.handle,
                description.0,
                weights.0,
                x.0,
                out.0,
                out.0,
                preference.0,
                wanted as c_int,
                results.as_mut_ptr(),
                &raw mut count,
            )
        };
        check(status, "hipblasLtMatmulAlgoGetHeuristic")?;
        results.truncate(usize::try_from(count).unwrap_or(0));
        Ok(Planned { weights, x, out, description, found: results })
    }

    fn layout(&self, element: c_int, [rows, columns]: [usize; 2], stride: usize) -> Result<Owned, BlasError> {
        let mut layout = std::ptr::null_mut();
        // SAFETY: the pointer is to a live pointer.
        let status = unsafe {
            (self.api.layout_create)(&raw mut layout, element, rows as u64, columns as u64, stride as i64)
        };
        check(status, "hipblasLtMatrixLayoutCreate")?;
        Ok(Owned(layout, self.api.layout_destroy))
    }

    /// Sums in f32, the first matrix transposed.
    fn description(&self) -> Result<Owned, BlasError> {
        let mut description = std::ptr::null_mut();
        // SAFETY: the pointer is to a live pointer.
        let status = unsafe { (self.api.description_create)(&raw mut description, COMPUTE_32F, R_32F) };
        check(status, "hipblasLtMatmulDescCreate")?;
        let description = Owned(description, self.api.description_destroy);
        let operation = TRANSPOSED;
        // SAFETY: the attribute is an i32, which lives.
        let status = unsafe {
            (self.api.description_set)(
                description.0,
                TRANSPOSE_A,
                (&raw const operation).cast(),
                size_of::<i32>(),
            )
        };
        check(status, "hipblasLtMatmulDescSetAttribute")?;
        Ok(description)
    }
}

impl Drop for BlasLt {
    fn drop(&mut self) {
        // SAFETY: the handle came from hipblasLtCreate and is destroyed once. A failure leaves nothing to do.
        unsafe { (self.api.destroy)(self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_errors_are_forgotten_on_windows_after_success_alone() {
        for (is_windows, status, forgets) in
            [(true, 0, true), (true, 7, false), (false, 0, false), (false, 7, false)]
        {
            assert_eq!(forgets_stale_error(is_windows, status), forgets, "{is_windows} {status}");
        }
    }
}
