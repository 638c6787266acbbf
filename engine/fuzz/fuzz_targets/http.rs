//! Any bytes as the body of a request: an error or a request, never a crash.
#![no_main]

use engine::serve::request::Ask;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = Ask::chat(bytes);
    let _ = Ask::text(bytes);
});
