//! `dist --check`: builds and packs everything twice, in copies of the workspace that differ in all that must not matter, and compares.

use super::check::Unpacked;
use super::compare::{Trace, compare, find_traces};
use super::{Error, Timestamp, civil};
use crate::files::{self, Named};
use crate::lock::Host;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is built twice.
pub(crate) struct Twice<'a> {
    /// The workspace.
    pub(crate) root: &'a Path,
    /// Where the copies go; a copy that is there is brought up to date and built on.
    pub(crate) work: &'a Path,
    /// The store.
    pub(crate) store: &'a Path,
    /// The toolchain's name.
    pub(crate) toolchain: &'a str,
    /// As `--targets` takes them.
    pub(crate) targets: &'a str,
    /// The machine that runs the programs.
    pub(crate) host: Host,
    /// The one time of both.
    pub(crate) time: Timestamp,
}

/// What was found to be the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Same {
    /// Archives.
    pub(crate) archives: usize,
    /// Files in them.
    pub(crate) files: usize,
    /// What the copies differed in.
    pub(crate) varied: Vec<&'static str>,
}

/// One copy and what is particular about it.
struct Copy {
    folder: PathBuf,
    variables: Vec<(&'static str, OsString)>,
    umask: &'static str,
    one_core: bool,
}

/// Names of folders: one short, one long with a space.
const SHORT: &str = "a";
const LONG: &str = "a-folder/with-a/much-longer/path and a space";
/// Names that occur nowhere else, so that they are found when they leak.
const USERS: [&str; 2] = ["strata-check-anna", "strata-check-bertram"];

/// Builds both side by side: one has all cores, the other one of them.
pub(crate) fn build_twice(twice: &Twice) -> Result<Same, Error> {
    let copies = [
        copy(twice, SHORT, USERS[0], ("UTC", "C"), "022", false)?,
        copy(twice, LONG, USERS[1], ("Pacific/Kiritimati", "tr_TR.UTF-8"), "077", true)?,
    ];
    std::thread::scope(|scope| {
        let runs = copies.each_ref().map(|copy| scope.spawn(move || run(twice, copy)));
        let joined = runs.map(|run| run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.into_iter().collect::<Result<Vec<()>, Error>>()
    })?;
    let [first, second] = copies.each_ref().map(|copy| copy.folder.join("dist"));
    let mut same = Same { varied: vec!["folder", "user", "home", "time zone", "locale"], ..Same::default() };
    if cfg!(unix) {
        same.varied.extend(["umask", "cores"]);
    }
    let (beside, traces) = (contents_of(&first, false)?, traces(twice, &copies));
    let mut differences = compare(&beside, &contents_of(&second, false)?);
    differences.extend(find_traces(&beside, &traces));
    for name in archives(&first)? {
        let (a, b) = (first.join(&name), second.join(&name));
        if !b.is_file() {
            continue;
        }
        let (inside, other) = (Unpacked::of(&a)?, Unpacked::of(&b)?);
        let files = contents_of(&inside.folder, true)?;
        let mut found = compare(&files, &contents_of(&other.folder, true)?);
        found.extend(find_traces(&files, &traces));
        differences.extend(found.into_iter().map(|line| format!("{name}: {line}")));
        same.archives += 1;
        same.files += files.len();
    }
    match differences.is_empty() {
        true => Ok(same),
        false => Err(Error::NotReproducible { differences }),
    }
}

/// A copy of the files that are part of the project.
fn copy(
    twice: &Twice,
    name: &str,
    user: &'static str,
    (zone, locale): (&str, &str),
    umask: &'static str,
    one_core: bool,
) -> Result<Copy, Error> {
    let folder = twice.work.join(name);
    let project = project_files(twice.root)?;
    files::create_folder(&folder)?;
    for old in files::list(&folder)?.into_iter().filter(|old| !is_made(old)) {
        if !project.contains(&old) {
            files::remove_tree(&folder.join(old))?;
        }
    }
    for path in &project {
        let (from, to) = (twice.root.join(path), folder.join(path));
        files::create_folder(to.parent().unwrap_or(&folder))?;
        std::fs::copy(&from, &to).named("copy", &from)?;
    }
    files::remove_tree(&folder.join("dist"))?;
    let home = twice.work.join("homes").join(user);
    files::create_folder(&home)?;
    let mut variables: Vec<(&'static str, OsString)> = vec![
        ("USER", user.into()),
        ("LOGNAME", user.into()),
        ("USERNAME", user.into()),
        ("TZ", zone.into()),
        ("LANG", locale.into()),
        ("LC_ALL", locale.into()),
        ("SOURCE_DATE_EPOCH", twice.time.0.to_string().into()),
    ];
    variables.extend(rust_homes());
    variables.push((if cfg!(windows) { "USERPROFILE" } else { "HOME" }, home.into()));
    Ok(Copy { folder, variables, umask, one_core })
}

/// Another home must not be another Rust: what follows from the home is said.
fn rust_homes() -> Vec<(&'static str, OsString)> {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
    let place = |name, below: &str| {
        let given = std::env::var_os(name).or_else(|| Some(home.as_ref()?.join(below).into_os_string()))?;
        Path::new(&given).is_dir().then_some((name, given))
    };
    [place("CARGO_HOME", ".cargo"), place("RUSTUP_HOME", ".rustup")].into_iter().flatten().collect()
}

/// Tracked by git, or new and not ignored; without git everything that no build makes.
fn project_files(root: &Path) -> Result<Vec<String>, Error> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .stderr(Stdio::null())
        .output();
    let is_file = |path: &String| root.join(path).is_file();
    match listed {
        Ok(output) if output.status.success() && !output.stdout.is_empty() => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Ok(text.split_terminator('\0').map(str::to_owned).filter(is_file).collect())
        }
        _ => Ok(files::list(root)?.into_iter().filter(|path| !is_made(path) && is_file(path)).collect()),
    }
}

/// What a build leaves.
fn is_made(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or(path);
    ["target", "store", "artifacts", "dist", ".git"].contains(&first)
}

/// `build` and `dist` in a copy.
fn run(twice: &Twice, copy: &Copy) -> Result<(), Error> {
    let store = twice.store.as_os_str();
    let common: [OsString; 8] = [
        "--toolchain".into(),
        twice.toolchain.into(),
        "--targets".into(),
        twice.targets.into(),
        "--store".into(),
        store.into(),
        "--host".into(),
        twice.host.triple().into(),
    ];
    for command in ["build", "dist"] {
        let mut process = started(copy)?;
        process.arg(command).args(&common).current_dir(&copy.folder).stdin(Stdio::null());
        process
            .env_remove("CARGO_MANIFEST_DIR")
            .envs(copy.variables.iter().map(|(name, value)| (name, value)));
        let output = process.output().named("start", &copy.folder)?;
        if crate::ui::interrupted() {
            return Err(Error::Interrupted);
        }
        if !output.status.success() {
            return Err(Error::CheckBuild {
                folder: copy.folder.clone(),
                status: format!("{command}: {}", output.status),
                output: String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
            });
        }
    }
    Ok(())
}

/// This program, with the copy's umask and cores where the system has such.
fn started(copy: &Copy) -> Result<Command, Error> {
    let program = std::env::current_exe().named("find", Path::new("xtask"))?;
    if cfg!(windows) {
        return Ok(Command::new(program));
    }
    // The copy with one core takes longest, so the other one makes way for it.
    let pin = if copy.one_core { "taskset -c 0 " } else { "nice -n 5 " };
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("umask {} && exec {pin}\"$0\" \"$@\"", copy.umask)).arg(program);
    Ok(command)
}

/// Every file of a folder by path; with `is_deep` also those in folders.
fn contents_of(folder: &Path, is_deep: bool) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let wanted = |path: &String| is_deep || !path.contains('/');
    let read = |path: String| {
        let full = folder.join(&path);
        Ok((path, std::fs::read(&full).named("read", &full)?))
    };
    files::list(folder)?.into_iter().filter(wanted).map(read).collect()
}

fn archives(folder: &Path) -> Result<Vec<String>, files::Error> {
    let is_archive = |name: &String| name.ends_with(".zip") || name.ends_with(".tar.zst");
    Ok(files::list(folder)?.into_iter().filter(is_archive).collect())
}

/// What would give this machine away. Short or common words are left out: they prove nothing.
fn traces(twice: &Twice, copies: &[Copy]) -> Vec<Trace> {
    let path = |what, path: &Path| Trace { what, text: path.display().to_string() };
    let mut traces = vec![
        path("the workspace's path", twice.root),
        path("the path of the copies", twice.work),
        path("the store's path", twice.store),
    ];
    traces.extend(copies.iter().map(|copy| path("the path of its workspace", &copy.folder)));
    traces.extend(USERS.map(|user| Trace { what: "the user's name", text: user.into() }));
    traces.extend(
        rust_homes()
            .into_iter()
            .map(|(_, folder)| path("the path of cargo's or rustup's home", Path::new(&folder))),
    );
    let host = std::fs::read_to_string("/etc/hostname").ok().or_else(|| std::env::var("COMPUTERNAME").ok());
    traces.extend(host.map(|host| Trace { what: "the machine's name", text: host.trim().to_owned() }));
    traces.extend(today(twice.time).into_iter().map(|text| Trace { what: "the day of the build", text }));
    traces.retain(|trace| trace.text.len() >= 8 && trace.text != "localhost");
    traces
}

/// The day as compilers and tools write it; nothing when it is the release's own.
fn today(time: Timestamp) -> Vec<String> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let days = i64::try_from(now / 86_400).unwrap_or(0);
    let (year, month, day) = civil(days);
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let name = MONTHS[usize::try_from(month - 1).unwrap_or(0).min(11)];
    match days == time.0.div_euclid(86_400) {
        true => Vec::new(),
        false => vec![format!("{year:04}-{month:02}-{day:02}"), format!("{name} {day:2} {year}")],
    }
}
