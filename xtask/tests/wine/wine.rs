//! Wine: whether it is here, a clean prefix, and programs run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const MINGW: &str = "x86_64-w64-mingw32-gcc";

/// Debian's `wine64` package puts its program outside the PATH.
fn wine() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).flat_map(|folder| ["wine64", "wine"].map(|n| folder.join(n)));
    on_path.chain(["/usr/lib/wine/wine64".into()]).find(|path| path.is_file())
}

/// Why nothing of this suite can run here, if it cannot.
pub(crate) fn missing() -> Option<String> {
    let starts = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    match (wine().is_some(), starts(MINGW)) {
        (false, _) => Some("there is no Wine (`sh prerequisites.sh --windows`)".into()),
        (_, false) => Some(format!("there is no {MINGW} (`sh prerequisites.sh --windows`)")),
        _ => None,
    }
}

/// Where everything of this run lies; removed at its end, and what a killed run left by the next.
pub(crate) fn scratch() -> &'static Path {
    static SCRATCH: OnceLock<PathBuf> = OnceLock::new();
    SCRATCH.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wine");
        if folder.exists() {
            let _ = Command::new("chmod").args(["-R", "u+w"]).arg(&folder).status();
            std::fs::remove_dir_all(&folder).expect("what an earlier run left");
        }
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    })
}

/// The prefix, made new, with what Wine lacks.
pub(crate) fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = scratch().join("prefix");
        let made = start(&prefix, Path::new("wineboot")).arg("-i").output().expect("Wine starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let system = prefix.join("drive_c/windows/system32");
        compile(include_str!("bcryptprimitives.c"), &["-shared"], &system.join("bcryptprimitives.dll"));
        prefix
    })
}

fn start(prefix: &Path, program: &Path) -> Command {
    let mut command = Command::new(wine().expect("Wine"));
    command.arg(program).env_clear();
    let home = scratch().join("home");
    std::fs::create_dir_all(&home).expect("a home");
    command.env("WINEPREFIX", prefix).env("HOME", home).env("PATH", "/usr/bin:/bin").env("WINEDEBUG", "-all");
    // Names of files are UTF-8.
    command.env("LC_ALL", "C.UTF-8");
    // Without these it asks whether to fetch Mono and Gecko.
    command.env("WINEDLLOVERRIDES", "mscoree,mshtml=");
    command
}

/// A Windows program, ready to start.
pub(crate) fn command(program: &Path) -> Command {
    start(prefix(), program)
}

/// `path` as Windows programs see it.
pub(crate) fn windows(path: &Path) -> String {
    format!("Z:{}", path.display()).replace('/', "\\")
}

/// Compiles a C source to a Windows program or library.
pub(crate) fn compile(source: &str, arguments: &[&str], to: &Path) {
    let file = to.with_extension("c");
    std::fs::write(&file, source).expect("write");
    let output = Command::new(MINGW)
        .args(["-O1", "-s", "-Wall", "-Wextra", "-Werror", "-Wl,--no-insert-timestamp"])
        .arg(&file)
        .args(arguments)
        .arg("-o")
        .arg(to)
        .output()
        .expect("mingw starts");
    assert!(output.status.success(), "{}", text(&output));
    std::fs::remove_file(file).expect("remove");
}

/// Runs a program of this machine and gives what it prints.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", text(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Unpacks a zip or a wheel by another program than ours.
pub(crate) fn unzip(archive: &Path, out: &Path) {
    let script = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";
    run(Command::new("python3").args(["-c", script]).arg(archive).arg(out));
}

/// All that a program said.
pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat()).into_owned()
}
