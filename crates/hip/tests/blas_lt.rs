//! hipBLASLt, against a stub that multiplies on the CPU.
#![cfg(target_os = "linux")] // The stub is a Linux library.
#![allow(unsafe_code)] // It looks into the stub runtime.

mod stub;

use hip::{BlasElement, BlasError, BlasLt, BlasProduct, LoadError, Runtime};
use std::path::{Path, PathBuf};

fn loaded() -> (Runtime, PathBuf) {
    let folder = stub::folder(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let runtime = Runtime::load_from(&folder.join("libamdhip64.so.7")).expect("the stub loads");
    (runtime, folder.to_owned())
}

/// The error that the stub runtime has in store.
fn stale_error(folder: &Path) -> i32 {
    // SAFETY: the stub's function takes nothing and gives the address of a static.
    unsafe {
        let library = libloading::Library::new(folder.join("libamdhip64.so.7")).expect("the stub");
        let place: libloading::Symbol<'_, unsafe extern "C" fn() -> *mut i32> =
            library.get("strata_stub_stale_error").expect("the stub's");
        *place()
    }
}

#[test]
fn products_are_right_choices_are_taken_and_stale_errors_forgotten() {
    let (runtime, folder) = loaded();
    stub::with_blas_lt(&folder);
    let blas = BlasLt::load(&runtime, std::slice::from_ref(&folder)).expect("hipBLASLt");
    assert_eq!(blas.version(), Ok(100_203));
    assert!(blas.path().ends_with("libhipblaslt.so.1"), "{}", blas.path().display());

    // Two rows of weights, three rows of x, of three columns; results in rows of four floats. bf16: the upper half of an f32.
    let halves = |numbers: &[f32]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()[2..].to_vec()).collect()
    };
    let weights = runtime.upload(&halves(&[1.0, 2.0, 3.0, 0.0, -1.0, 0.5])).expect("memory");
    let x = runtime.upload(&halves(&[1.0, 1.0, 1.0, 2.0, 0.0, 4.0, 0.0, 0.0, -2.0])).expect("memory");
    let out = runtime.upload(&[0; 48]).expect("memory");
    let stream = runtime.stream().expect("a stream");
    let product = BlasProduct {
        element: BlasElement::Bf16,
        out: out.address(),
        weights: weights.address(),
        x: x.address(),
        columns: 3,
        rows: 2,
        count: 3,
        out_stride: 4,
    };
    let numbers = || -> Vec<f32> {
        let bytes = out.read().expect("bytes");
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    };
    let expected = [6.0, -0.5, 0.0, 0.0, 14.0, 2.0, 0.0, 0.0, -6.0, -1.0, 0.0, 0.0];
    blas.multiply(&stream, &product, 0).expect("a product");
    assert_eq!(numbers(), expected);
    // Elsewhere than on Windows nothing is forgotten.
    assert_eq!(stale_error(&folder), 1);
    let blas = blas.clearing_stale_errors();
    blas.multiply(&stream, &product, 2).expect("the third algorithm");
    assert_eq!(numbers(), expected.map(|number| 0.0 - number));
    assert_eq!(stale_error(&folder), 0);

    // One that needs a workspace, and one that there is not.
    for choice in [1, 3] {
        let refused = blas.multiply(&stream, &product, choice);
        assert!(
            matches!(refused, Err(BlasError::NoAlgorithm { choice: of, .. }) if of == choice),
            "{refused:?}"
        );
    }
    let narrow = BlasProduct { out_stride: 1, ..product };
    let error = blas.multiply(&stream, &narrow, 0).expect_err("rows that overlap");
    let said = "hipBLASLt has no algorithm number 0 for this product: hipblasLtMatmulAlgoGetHeuristic failed with hipblasStatus_t 3";
    assert_eq!(error.to_string(), said);
}

#[test]
fn where_it_is_not_the_names_are_said() {
    let (runtime, folder) = loaded();
    // A folder without it, and a library of that name that is another.
    let empty = folder.join("empty");
    std::fs::create_dir_all(&empty).expect("a folder");
    if let Err(error) = BlasLt::load(&runtime, std::slice::from_ref(&empty)) {
        assert!(
            matches!(&error, LoadError::NotFound { what: "hipBLASLt", attempts } if attempts.len() == 3),
            "{error}"
        );
    }
    std::fs::copy(folder.join("libamdhip64.so.7"), empty.join("libhipblaslt.so.1")).expect("a copy");
    let said = || BlasLt::load(&runtime, std::slice::from_ref(&empty)).err().expect("no hipBLASLt");
    let error = said();
    assert!(
        error
            .to_string()
            .ends_with("has no function `hipblasLtCreate`: it is no hipBLASLt of version 6 or later"),
        "{error}"
    );
    // One that the loader does not take is not looked for elsewhere.
    std::fs::write(empty.join("libhipblaslt.so.1"), "no library").expect("a file");
    let error = said();
    assert!(matches!(&error, LoadError::Broken { what: "hipBLASLt", .. }), "{error}");
    assert!(
        error.to_string().contains("libhipblaslt.so.1` is there and cannot be used: file too short"),
        "{error}"
    );
}
