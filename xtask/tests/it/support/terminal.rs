//! xtask on a terminal of a given width: Python's pty starts it, vt100 tells what is seen.

use super::World;
use std::process::Command;

/// Gives the child a terminal of its own and copies what it writes there.
const PTY: &str = r"
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 200, int(sys.argv[1]), 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    os.write(1, data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

/// So many that nothing scrolls away.
const ROWS: std::num::NonZeroU16 = std::num::NonZeroU16::new(200).expect("not 0");

/// What was seen.
pub(crate) struct Seen {
    pub(crate) code: Option<i32>,
    /// All that was written, control codes too.
    pub(crate) raw: String,
    /// What stood there in the end, with this machine's paths replaced.
    pub(crate) screen: String,
    /// Every different row that stood there at any time.
    pub(crate) rows: Vec<String>,
    /// What stood there at any time, each a screen without its empty rows.
    pub(crate) screens: Vec<Vec<String>>,
}

/// Runs xtask in a terminal of `columns`.
pub(crate) fn on_terminal(
    world: &World,
    columns: u16,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Seen {
    let plain = world.command(arguments);
    let mut command = Command::new("python3");
    command.args(["-c", PTY, &columns.to_string()]).arg(plain.get_program()).args(arguments);
    command.current_dir(world.root());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "COLUMNS"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    let output = command.output().expect("python3");
    let mut parser = vt100::Parser::new(ROWS, columns.try_into().expect("columns"), 0);
    let (mut rows, mut screens) = (Vec::new(), Vec::new());
    for piece in output.stdout.split_inclusive(|byte| matches!(byte, b'\r' | b'\x1b')) {
        parser.process(piece);
        let shown: Vec<String> = parser.screen().rows(0, columns).filter(|row| !row.is_empty()).collect();
        for row in &shown {
            if !rows.contains(row) {
                rows.push(row.clone());
            }
        }
        if screens.last() != Some(&shown) {
            screens.push(shown);
        }
    }
    let screen = parser.screen().contents().replace(&world.root().display().to_string(), "[ROOT]");
    Seen {
        code: output.status.code(),
        raw: String::from_utf8_lossy(&output.stdout).into_owned(),
        screen,
        rows,
        screens,
    }
}
