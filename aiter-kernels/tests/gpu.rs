//! Calls for tensors of a GPU on the stub of the HIP runtime, which computes nothing: what a call does to the process around it.
#![cfg(target_os = "linux")] // The stub is a Linux library.

#[path = "../../crates/hip/tests/stub/mod.rs"]
mod stub;

use aiter_kernels::interface::{Activation, ElementType, Error, GatedActivation, Kernels, Tensor, TensorMut};
use hip::Runtime;
use std::path::{Path, PathBuf};

const TWO: &str = "gfx1201|one|16|32|0|32;gfx1100|two|16|48|0|32";

/// Runs one test of this file in a process of its own with what the stub reads; true there.
fn alone(test: &str, recording: bool) -> bool {
    if std::env::var_os("STRATA_STUB_DEVICES").is_some() {
        return true;
    }
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", test]).env("STRATA_STUB_DEVICES", TWO);
    if recording {
        command.env("STRATA_STUB_RECORDING", "1");
    }
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

/// A call on the second device; there are no code objects for it.
fn call() -> (Runtime, Error) {
    let folder = stub::folder(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let runtime = Runtime::load_from(&folder.join("libamdhip64.so.7")).expect("the stub loads");
    let kernels = Kernels::with_runtime(runtime.clone(), PathBuf::from("/nowhere"));
    let mut memory = runtime.allocate(4096).expect("memory");
    let input = runtime.allocate(4096).expect("memory");
    let call = GatedActivation {
        activation: Activation::Silu,
        out: TensorMut::on_gpu(ElementType::F16, &mut memory, 1, &[2, 64]),
        input: Tensor::on_gpu(ElementType::F16, &input, 1, &[2, 128]),
    };
    let error = kernels.gated_activation(&call, None).expect_err("no code objects");
    (runtime, error)
}

#[test]
fn the_current_device_is_what_it_was() {
    if !alone("the_current_device_is_what_it_was", false) {
        return;
    }
    let (runtime, error) = call();
    assert!(error.to_string().contains("there is no code for gfx1100"), "{error}");
    assert_eq!(runtime.current_device(), Ok(0));
}

#[test]
fn nothing_is_loaded_while_a_graph_is_recorded() {
    if !alone("nothing_is_loaded_while_a_graph_is_recorded", true) {
        return;
    }
    let (_, error) = call();
    assert!(matches!(error, Error::Recording { scratch: 0 }), "{error}");
    assert!(
        error.to_string().ends_with("make the same call once on the same stream before the recording"),
        "{error}"
    );
}
