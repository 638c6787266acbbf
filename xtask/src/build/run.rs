//! Runs one program of a build: output to a log file, an end in time, and no child left behind.

use super::environment::Variables;
use crate::children;
use crate::files::{self, Named};
use crate::ui::{interrupted, last_lines};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What to run.
pub(super) struct Program<'a> {
    pub(super) path: &'a Path,
    pub(super) arguments: Vec<OsString>,
    pub(super) folder: &'a Path,
    pub(super) environment: &'a Variables,
    pub(super) log: PathBuf,
    pub(super) limit: Duration,
}

/// How it did not end well.
pub(super) enum Failure {
    /// Our files.
    Files(files::Error),
    /// It is not there, or may not be run.
    Start(std::io::Error),
    /// It said no.
    Status { status: String, output: String },
    /// It was ended.
    TimedOut,
    /// It was ended.
    Interrupted,
}

const POLL: Duration = Duration::from_millis(10);
/// As long as a build that is asked to end may take for it.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(5);
const TAIL_LINES: usize = 25;

impl Program<'_> {
    /// Runs it to its end.
    pub(super) fn run(&self) -> Result<(), Failure> {
        if let Some(folder) = self.log.parent() {
            files::create_folder(folder).map_err(Failure::Files)?;
        }
        let log = File::create(&self.log).named("create", &self.log).map_err(Failure::Files)?;
        let second = log.try_clone().named("open", &self.log).map_err(Failure::Files)?;
        let mut command = Command::new(self.path);
        command.args(&self.arguments).current_dir(self.folder).env_clear().envs(self.environment);
        command.stdin(Stdio::null()).stdout(log).stderr(second);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // This thread waits for the program, so it is gone before only if the whole process is.
        children::end_with_this_thread(&mut command);
        let mut child = command.spawn().map_err(Failure::Start)?;
        let status = self.wait(&mut child)?;
        match status.success() {
            true => Ok(()),
            false => {
                let text = std::fs::read(&self.log).unwrap_or_default();
                Err(Failure::Status {
                    status: status.to_string(),
                    output: String::from_utf8_lossy(&text).into_owned(),
                })
            }
        }
    }

    fn wait(&self, child: &mut Child) -> Result<ExitStatus, Failure> {
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(Failure::Start)? {
                return Ok(status);
            }
            let failure = match () {
                () if interrupted() => Failure::Interrupted,
                () if start.elapsed() > self.limit => Failure::TimedOut,
                () => {
                    std::thread::sleep(POLL);
                    continue;
                }
            };
            end_group(child);
            return Err(failure);
        }
    }
}

/// Ends the child and what it started. Ninja gives each compiler a group of its own and ends them when it is asked to end, so it is asked first.
fn end_group(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
        // The child leads a group of its own.
        let group = Pid::from_child(child);
        let asked = Instant::now();
        let _ = kill_process_group(group, Signal::TERM);
        while asked.elapsed() < GRACE {
            let _ = child.try_wait();
            if test_kill_process_group(group).is_err() {
                break;
            }
            std::thread::sleep(POLL);
        }
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The last lines of `output`, indented.
pub(super) fn tail(output: &str) -> String {
    last_lines(output.lines(), TAIL_LINES)
}
