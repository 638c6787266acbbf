//! A program that is asked something and may not hang.

use std::io::{self, Read};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(10);

/// Runs `command` without input; ended after `limit`, which is an error of the kind `TimedOut`.
pub(super) fn output_within(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let status = wait(&mut child, limit)?;
    let text = |thread: Option<std::thread::JoinHandle<Vec<u8>>>| {
        thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    };
    Ok(Output { status, stdout: text(stdout), stderr: text(stderr) })
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<std::process::ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no answer in {} s", limit.as_secs()),
            ));
        }
        std::thread::sleep(POLL);
    }
}

/// A pipe that nobody reads would stop the child.
fn collect(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_ended_and_what_talks_a_lot_is_read() {
        let hung =
            output_within(Command::new("sleep").arg("60"), Duration::from_millis(20)).expect_err("hangs");
        assert_eq!(hung.kind(), io::ErrorKind::TimedOut);
        let mut talker = Command::new("sh");
        talker.args(["-c", "head -c 200000 /dev/zero; echo done >&2; exit 3"]);
        let output = output_within(&mut talker, Duration::from_secs(30)).expect("runs");
        assert_eq!(
            (output.stdout.len(), output.stderr, output.status.code()),
            (200_000, b"done\n".to_vec(), Some(3))
        );
    }
}
