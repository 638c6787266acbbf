//! The runtime, against the stub.
#![cfg(target_os = "linux")] // The stub is a Linux library.

mod stub;

use hip::{Arguments, Launch, LoadError, Runtime};
use std::path::Path;

const GFX1201: &[u8] = include_bytes!("../../code-object/tests/data/gfx1201.co");
const GFX1100: &[u8] = include_bytes!("../../code-object/tests/data/gfx1100.co");

/// The stub with its default device, a gfx1201.
fn runtime() -> Runtime {
    let folder = stub::folder(Path::new(env!("CARGO_TARGET_TMPDIR")));
    Runtime::load_from(&folder.join("libamdhip64.so.7")).expect("the stub loads")
}

#[test]
fn the_loaded_library_and_its_versions_are_named() {
    let runtime = runtime();
    let path = runtime.path().expect("a path");
    assert!(path.ends_with("libamdhip64.so.7"), "{}", path.display());
    assert_eq!((runtime.driver_version(), runtime.runtime_version()), (Ok(70_051_831), Ok(70_051_831)));
}

#[test]
fn devices_are_described() {
    let runtime = runtime();
    assert_eq!(runtime.device_count(), Ok(1));
    let device = runtime.device(0).expect("a device");
    assert_eq!((device.name.as_str(), device.arch.as_str()), ("AMD Radeon RX 9070 XT", "gfx1201"));
    assert_eq!((device.total_memory, device.multiprocessors, device.wave_size), (16 << 30, 32, 32));
    assert_eq!((device.is_integrated, device.pci_bus_id.as_str()), (false, "0000:03:00.0"));
    let error = runtime.device(7).expect_err("no device");
    assert_eq!(error.to_string(), "hipDeviceTotalMem failed: hipErrorInvalidDevice (101), said by the stub");
    assert!(runtime.set_device(7).is_err());
}

#[test]
fn memory_goes_there_and_back() {
    let runtime = runtime();
    let mut buffer = runtime.upload(&[1, 2, 3, 4]).expect("memory");
    assert_eq!(buffer.read().expect("bytes"), [1, 2, 3, 4]);
    buffer.write(&[9]).expect("a write");
    assert_eq!(buffer.read().expect("bytes"), [9, 2, 3, 4]);
    buffer.fill(0xa5).expect("a fill");
    assert_eq!(buffer.read().expect("bytes"), [0xa5; 4]);
    let error = runtime.allocate(1 << 40).err().expect("too much");
    assert_eq!(error.name, "hipErrorOutOfMemory");
    assert_eq!(runtime.memory_info().expect("memory info").total, 16 << 30);
}

#[test]
fn a_kernel_runs() {
    let runtime = runtime();
    let module = runtime.load_module(GFX1201).expect("a module");
    let function = module.function("scale").expect("a kernel");
    drop(module);
    let numbers: Vec<u8> = [1.0_f32, 2.0, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let buffer = runtime.upload(&numbers).expect("memory");
    let stream = runtime.stream().expect("a stream");
    let launch = Launch { grid: [1, 1, 1], block: [64, 1, 1], lds: 0 };
    let arguments = Arguments::new().address(buffer.address()).f32(2.0).u32(3);
    function.launch(&stream, launch, &arguments).expect("a launch");
    stream.synchronize().expect("the end");
    let scaled: Vec<u8> = [2.0_f32, 4.0, 6.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(buffer.read().expect("bytes"), scaled);
    let default = runtime.default_stream();
    assert_ne!(default.address(), stream.address());
    function
        .launch(&default, launch, &Arguments::new().address(buffer.address()).f32(0.5).u32(3))
        .expect("a launch");
    assert_eq!(buffer.read().expect("bytes"), numbers);
    let too_large = Launch { block: [2048, 1, 1], ..launch };
    assert_eq!(
        function.launch(&stream, too_large, &arguments).expect_err("refused").name,
        "hipErrorInvalidValue"
    );
}

#[test]
fn wrong_code_objects_are_refused() {
    let runtime = runtime();
    let name = |bytes: &[u8]| runtime.load_module(bytes).err().expect("refused").name;
    assert_eq!(name(GFX1100), "hipErrorNoBinaryForGpu");
    assert_eq!(name(b"MZ"), "hipErrorInvalidImage");
    assert_eq!(name(&GFX1201[..GFX1201.len() - 1]), "hipErrorInvalidImage");
    let module = runtime.load_module(GFX1201).expect("a module");
    for missing in ["missing", "", "sca\0le"] {
        assert_eq!(
            module.function(missing).err().expect("not found").name,
            "hipErrorNotFound",
            "{missing:?}"
        );
    }
}

#[test]
fn what_was_tried_is_said() {
    let error = Runtime::load_from(Path::new("/nowhere/libamdhip64.so.7")).err().expect("nothing there");
    let message = error.to_string();
    assert!(
        message.starts_with("failed to load the HIP runtime; tried `/nowhere/libamdhip64.so.7` ("),
        "{message}"
    );
    assert!(message.contains("No such file"), "{message}");
}

#[test]
fn another_library_is_no_runtime() {
    let error = Runtime::load_from(Path::new("libc.so.6")).err().expect("no HIP runtime");
    assert!(matches!(&error, LoadError::Symbol { symbol, .. } if symbol == "hipDriverGetVersion"), "{error}");
}

#[test]
fn a_runtime_without_graphs_records_nothing() {
    let runtime = runtime();
    let stream = runtime.stream().expect("a stream");
    assert!(!runtime.has_graphs());
    let recorded =
        stream.record(|| -> Result<(), String> { panic!("it is not called") }, |error| error.to_string());
    assert!(recorded.is_ok_and(|recorded| recorded.is_none()));
}

#[test]
fn words_of_the_host_are_seen_by_the_device() {
    use std::sync::atomic::Ordering::Relaxed;
    let runtime = runtime();
    let words = runtime.mapped_words(3).expect("memory");
    assert!(words.words().iter().all(|word| word.load(Relaxed) == 0));
    words.words()[1].store(7, Relaxed);
    // The stub's device has the host's addresses.
    assert_eq!(words.address(), words.words().as_ptr().addr() as u64);
    assert_eq!(words.words().len(), 3);
}

#[test]
fn buffers_are_copied_between_devices() {
    let runtime = runtime();
    let from = runtime.upload(&[1, 2, 3, 4]).expect("memory");
    let mut to = runtime.upload(&[0; 4]).expect("memory");
    to.copy_from(0, &from, 0, 3).expect("a copy");
    assert_eq!((to.read().expect("bytes"), to.read_first(2).expect("bytes")), (vec![1, 2, 3, 0], vec![1, 2]));
    let error = to.copy_from(0, &from, 7, 3).expect_err("no device 7");
    assert_eq!((error.function, error.name.as_str()), ("hipMemcpyPeer", "hipErrorInvalidDevice"));
}

/// Runs one test of this file in a process of its own, where the stub sees the variable; true there.
fn alone_with(test: &str, (name, value): (&str, &str)) -> bool {
    if std::env::var_os(name).is_some_and(|set| set == value) {
        return true;
    }
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    let output = command.args(["--exact", test, "--nocapture"]).env(name, value).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
    false
}

const TWO: (&str, &str) = ("STRATA_STUB_DEVICES", "gfx1201|one|16|32|0|32;gfx1100|two|16|48|0|32");

#[test]
fn a_device_that_was_entered_is_left() {
    let runtime = runtime();
    if !alone_with("a_device_that_was_entered_is_left", TWO) {
        return;
    }
    assert_eq!(runtime.current_device(), Ok(0));
    let entered = runtime.enter(1).expect("the second");
    assert_eq!(runtime.current_device(), Ok(1));
    drop(runtime.enter(1).expect("it is there already"));
    assert_eq!(runtime.current_device(), Ok(1));
    drop(entered);
    assert_eq!(runtime.current_device(), Ok(0));
    assert!(runtime.enter(2).is_err());
    assert_eq!(runtime.current_device(), Ok(0));
}

#[test]
fn a_stream_says_whether_it_records() {
    let runtime = runtime();
    let records = alone_with("a_stream_says_whether_it_records", ("STRATA_STUB_RECORDING", "1"));
    assert_eq!(runtime.default_stream().is_recording(), Ok(records));
}

#[test]
fn a_runtime_that_is_loaded_already_is_the_one() {
    let runtime = runtime();
    // Nothing of this name is where the system looks.
    let again = Runtime::load().expect("the one of above");
    assert_eq!(again.path(), runtime.path());
}
