//! Waits for programs that hold a file for a moment: on Windows a scanner or indexer opens what was just written, and rename and delete fail
//! (rustup#1870, uv#9531, libuv#1981; facts/peers.md 3b, rows 20 to 22).

use std::io;
use std::time::{Duration, Instant};

/// Some scanners hold a file this long, and hardly any longer.
const LIMIT: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

const ACCESS_DENIED: i32 = 5;
const SHARING_VIOLATION: i32 = 32;
const LOCK_VIOLATION: i32 = 33;
const DIR_NOT_EMPTY: i32 = 145;

/// Whether a Windows error means that another program holds the file. A folder whose last file is deleted but still held is "not empty".
pub(crate) fn is_held(windows: bool, error: &io::Error) -> bool {
    let codes = [ACCESS_DENIED, SHARING_VIOLATION, LOCK_VIOLATION, DIR_NOT_EMPTY];
    windows && error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

/// Does `operation`, again and again while another program is in the way, on Windows for half a minute.
pub(super) fn patiently<T>(operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let start = Instant::now();
    wait_out(cfg!(windows), || start.elapsed(), std::thread::sleep, operation)
}

fn wait_out<T>(
    windows: bool,
    elapsed: impl Fn() -> Duration,
    mut sleep: impl FnMut(Duration),
    mut operation: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let mut pause = FIRST_PAUSE;
    loop {
        match operation() {
            Err(error) if is_held(windows, &error) && elapsed() < LIMIT => sleep(pause),
            result => return result,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// How long an operation took that is in the way until `free_at`, and whether it worked; the clock is the test's own.
    fn run(windows: bool, code: i32, free_at: Duration) -> (bool, Duration) {
        let now = Cell::new(Duration::ZERO);
        let operation = || match now.get() < free_at {
            true => Err(io::Error::from_raw_os_error(code)),
            false => Ok(()),
        };
        let done = wait_out(windows, || now.get(), |pause| now.set(now.get() + pause), operation).is_ok();
        (done, now.get())
    }

    #[test]
    fn what_is_held_for_a_while_is_waited_for() {
        for code in [ACCESS_DENIED, SHARING_VIOLATION, LOCK_VIOLATION, DIR_NOT_EMPTY] {
            let (done, waited) = run(true, code, Duration::from_secs(5));
            assert!(done && waited < Duration::from_secs(7), "{code}: {waited:?}");
        }
    }

    #[test]
    fn what_is_held_for_ever_is_given_up_after_half_a_minute() {
        let (done, waited) = run(true, SHARING_VIOLATION, Duration::MAX);
        assert!(!done && waited >= LIMIT && waited < LIMIT + 2 * LONGEST_PAUSE, "{waited:?}");
    }

    #[test]
    fn other_errors_and_other_systems_are_not_waited_for() {
        const NOT_FOUND: i32 = 2;
        assert_eq!(run(true, NOT_FOUND, Duration::MAX), (false, Duration::ZERO));
        assert_eq!(run(false, SHARING_VIOLATION, Duration::MAX), (false, Duration::ZERO));
    }
}
