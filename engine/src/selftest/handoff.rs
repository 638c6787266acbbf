//! CPU and GPU signal each other through mapped memory while a kernel runs.

use crate::catalogue::Entry;
use crate::kernels::answer;
use hip::{CallError, MappedWords, Runtime, Stream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often.
const ROUNDS: u32 = 100;
/// For one round.
const DEADLINE: Duration = Duration::from_secs(2);
/// How often the kernel looks: more than the deadline allows, and few enough that it ends.
const TRIES: u32 = 1 << 24;

/// Each round starts a kernel that waits for the host's word, writes the word, and waits for the kernel's.
pub(super) fn check(runtime: &Runtime, entry: &Entry) -> Result<String, String> {
    let run = || -> Result<Result<Duration, String>, CallError> {
        let words = runtime.mapped_words(2)?;
        let function = runtime.load_module(&entry.bytes)?.function(&answer(0, 0, 0, 0).kernel)?;
        let stream = runtime.stream()?;
        let mut slowest = Duration::ZERO;
        for round in 1..=ROUNDS {
            let call = answer(words.address(), words.address() + 4, round, TRIES);
            function.launch(&stream, call.launch, &call.arguments)?;
            let start = Instant::now();
            words.words()[0].store(round, Ordering::Release);
            let has_answered = wait(&words, &stream, round)?;
            slowest = slowest.max(start.elapsed());
            stream.synchronize()?;
            if !has_answered {
                let found = words.words()[1].load(Ordering::Acquire);
                return Ok(Err(format!(
                    "round {round} of {ROUNDS}: the device's word is {found:#x}, not {round:#x}"
                )));
            }
        }
        Ok(Ok(slowest))
    };
    run().map_err(|error| error.to_string())??;
    Ok(format!("{ROUNDS} rounds of a word to a running kernel and one back, each within {DEADLINE:?}"))
}

/// Whether the kernel's word comes in time. The stream is asked on each look: on Windows a write of the device becomes visible only when the driver
/// is entered (facts/strata.md 1.6).
fn wait(words: &MappedWords, stream: &Stream, round: u32) -> Result<bool, CallError> {
    let start = Instant::now();
    loop {
        let is_done = stream.is_done()?;
        let has_answered = words.words()[1].load(Ordering::Acquire) == round;
        if has_answered || is_done || start.elapsed() > DEADLINE {
            return Ok(has_answered);
        }
    }
}
