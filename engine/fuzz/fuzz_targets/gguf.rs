//! Any bytes as a model file: an error or a directory, never a crash.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = engine::gguf::Directory::parse(bytes);
});
