//! File operations whose errors say what could not be done to which path, and that survive what real machines do to files.

mod patience;
mod process_lock;

pub(crate) use patience::is_held;
pub(crate) use process_lock::ProcessLock;

use patience::patiently;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// `failed to <verb> <path>`, with the system's reason as its source.
#[derive(Debug, thiserror::Error)]
#[error("failed to {verb} `{path}`")]
pub(crate) struct Error {
    /// `create`, `read`, `write`, `rename`, `remove`, …
    pub(crate) verb: &'static str,
    /// What it was done to.
    pub(crate) path: PathBuf,
    /// The system's reason.
    pub(crate) source: io::Error,
}

/// Adds verb and path to an I/O result.
pub(crate) trait Named<T> {
    /// `failed to <verb> <path>`
    fn named(self, verb: &'static str, path: &Path) -> Result<T, Error>;
}

impl<T> Named<T> for io::Result<T> {
    fn named(self, verb: &'static str, path: &Path) -> Result<T, Error> {
        self.map_err(|source| Error { verb, path: path.to_owned(), source })
    }
}

/// One step of changing the disk. A debug build ends like a power cut at the step that STRATA_CRASH_AT counts to, which is how the crash test
/// stops at each of them.
pub(crate) fn step() {
    #[cfg(debug_assertions)]
    {
        use std::sync::atomic::{AtomicU64, Ordering};
        static STEPS: AtomicU64 = AtomicU64::new(1);
        let crash_at = std::env::var("STRATA_CRASH_AT").ok().and_then(|text| text.parse().ok());
        if crash_at == Some(STEPS.fetch_add(1, Ordering::Relaxed)) {
            std::process::abort();
        }
    }
}

/// Makes `path` and all its parents.
pub(crate) fn create_folder(path: &Path) -> Result<(), Error> {
    step();
    fs::create_dir_all(path).named("create", path)
}

/// Reads a text file.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).named("read", path)
}

/// Reads a JSON file.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Error> {
    serde_json::from_str(&read_text(path)?).map_err(io::Error::other).named("read", path)
}

/// Writes a file so that a reader, or a crash, sees the old content or the new one and nothing between. A crash may leave `<name>.<random>.new`
/// beside it, which the folder's owner knows by its name.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), Error> {
    write_with(path, content, 0o644)
}

/// The same, for what concerns nobody but the user.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> Result<(), Error> {
    write_with(path, content, 0o600)
}

fn write_with(path: &Path, content: &[u8], mode: u32) -> Result<(), Error> {
    step();
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut unfinished = tempfile::Builder::new();
    let mut file =
        unfinished.prefix(&format!("{name}.")).suffix(".new").tempfile_in(folder).named("create", path)?;
    step();
    file.write_all(content).named("write", path)?;
    file.as_file().sync_all().named("write", path)?;
    step();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(mode)).named("write", path)?;
    }
    #[cfg(not(unix))]
    let _ = mode;
    let mut unfinished = Some(file.into_temp_path());
    let persist = || match unfinished.take().map(|unfinished| unfinished.persist(path)) {
        Some(Err(tempfile::PathPersistError { error, path })) => {
            unfinished = Some(path);
            Err(error)
        }
        _ => Ok(()),
    };
    patiently(persist).named("write", path)
}

/// Whether a volume or a quota has no room left.
pub(crate) fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Has all that is at `path` on the disk, where the system can be asked for that (Linux; Windows writes each file when it likes): what is renamed after
/// this to the name under which everybody believes it is whole after a power cut too. It takes seconds, so that what is replaced must be there until it is done.
pub(crate) fn sync(path: &Path) -> Result<(), Error> {
    #[cfg(target_os = "linux")]
    {
        let file = fs::File::open(path).named("open", path)?;
        rustix::fs::syncfs(&file).map_err(io::Error::from).named("write", path)?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = path;
    Ok(())
}

/// Renames a folder; the new name must be free.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    step();
    patiently(|| fs::rename(from, to)).named("rename", from)
}

/// Removes a file or a whole tree, read-only or not; what is not there needs no removing.
pub(crate) fn remove_tree(path: &Path) -> Result<(), Error> {
    step();
    let meta = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        meta => meta.named("remove", path)?,
    };
    if !meta.is_dir() {
        return patiently(|| remove_file(path)).named("remove", path);
    }
    set_writable(path)?;
    for entry in fs::read_dir(path).named("remove", path)? {
        remove_tree(&entry.named("remove", path)?.path())?;
    }
    patiently(|| fs::remove_dir(path)).named("remove", path)
}

/// Windows deletes no read-only file, and the files of the store are that.
fn remove_file(path: &Path) -> io::Result<()> {
    #[cfg(windows)]
    {
        let mut permissions = fs::symlink_metadata(path)?.permissions();
        if permissions.readonly() {
            #[allow(clippy::permissions_set_readonly_false)]
            // Windows only: there is no world that could write then.
            permissions.set_readonly(false);
            fs::set_permissions(path, permissions)?;
        }
    }
    fs::remove_file(path)
}

/// Takes the write permission from `folder` and every folder below it. On Windows, where that means nothing for folders, from every file; elsewhere
/// files are made without it, which saves a call for each.
pub(crate) fn make_read_only(folder: &Path) -> Result<(), Error> {
    step();
    for entry in fs::read_dir(folder).named("change", folder)? {
        let entry = entry.named("change", folder)?;
        let path = entry.path();
        if entry.file_type().named("change", &path)?.is_dir() {
            make_read_only(&path)?;
        } else if cfg!(windows) {
            take_write_permission(&path)?;
        }
    }
    match cfg!(windows) {
        true => Ok(()),
        false => take_write_permission(folder),
    }
}

fn take_write_permission(path: &Path) -> Result<(), Error> {
    let mut permissions = fs::metadata(path).named("change", path)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions).named("change", path)
}

fn set_writable(folder: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).named("change", folder)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        Ok(())
    }
}

/// Every file and link below `root`, as sorted paths with `/`, relative to it.
pub(crate) fn list(root: &Path) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    list_into(root, "", &mut found)?;
    found.sort();
    Ok(found)
}

fn list_into(folder: &Path, prefix: &str, found: &mut Vec<String>) -> Result<(), Error> {
    for entry in fs::read_dir(folder).named("read", folder)? {
        let entry = entry.named("read", folder)?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        // Wine shows a stream of a file, which CMake keeps modes in, as a file of its own; no Windows file has a colon in its name.
        if cfg!(windows) && name.contains(':') {
            continue;
        }
        match entry.file_type().named("read", &entry.path())?.is_dir() {
            true => list_into(&entry.path(), &format!("{name}/"), found)?,
            false => found.push(name),
        }
    }
    Ok(())
}

/// `text` with each path in it named by its place; the longest path first, so that one that lies in another is not cut in half.
pub(crate) fn with_places(text: &str, places: &[(String, impl AsRef<str>)]) -> String {
    let mut places: Vec<_> = places.iter().filter(|(path, _)| path.len() > 1).collect();
    places.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    places.into_iter().fold(text.to_owned(), |text, (path, place)| text.replace(path, place.as_ref()))
}

/// `path` with forward slashes, as CMake wants it on every host.
pub(crate) fn forward_slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
