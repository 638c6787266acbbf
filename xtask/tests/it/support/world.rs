//! A workspace of the test's own: folder, lock, store; and xtask run in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A temporary workspace.
pub(crate) struct World {
    folder: PathBuf,
    /// Removes the folder with this value, when it is a temporary one.
    _temporary: Option<tempfile::TempDir>,
}

/// How a run of xtask ended, with this machine's paths replaced.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The workspace that these tests belong to.
pub(crate) fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

impl World {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let temporary = tempfile::Builder::new().prefix("strata-").tempdir().expect("temp");
        Self { folder: temporary.path().to_owned(), _temporary: Some(temporary) }
    }

    /// In a folder that stays.
    pub(crate) fn at(folder: PathBuf) -> Self {
        std::fs::create_dir_all(&folder).expect("folder");
        Self { folder, _temporary: None }
    }

    /// With this lock.
    pub(crate) fn with_lock(lock: &str) -> Self {
        let world = Self::new();
        world.write("toolchains.lock", lock);
        world
    }

    pub(crate) fn root(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Writes a file and the folders above it.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(path, text).expect("write");
    }

    /// xtask with `arguments`, ready to start.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(arguments).current_dir(self.root()).stdin(Stdio::null());
        // The one that runs the tests set it, and xtask would take that workspace for its own.
        command.env_remove("CARGO_MANIFEST_DIR");
        for name in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        for name in ["STRATA_STORE", "STRATA_TOOLCHAIN", "SOURCE_DATE_EPOCH", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        command.env("NO_COLOR", "1");
        // Waits between tries are not what is tested.
        command.env("STRATA_RETRY_SCALE", "0.001");
        command
    }

    /// Runs xtask to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.ended(self.command(arguments).output().expect("xtask starts"))
    }

    /// Starts xtask with its output kept.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("xtask starts")
    }

    pub(crate) fn ended(&self, output: Output) -> Run {
        let shown = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes).replace(&self.root().display().to_string(), "[ROOT]")
        };
        Run { code: output.status.code(), stdout: shown(&output.stdout), stderr: shown(&output.stderr) }
    }

    /// What is kept of unfinished downloads.
    pub(crate) fn partials(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("store/partials")).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Pretends that an earlier run has kept `bytes` of the archive with this hash.
    pub(crate) fn keep_partial(&self, sha256: &str, bytes: &[u8]) {
        let folder = self.path("store/partials");
        std::fs::create_dir_all(&folder).expect("folder");
        std::fs::write(folder.join(format!("{}.part", &sha256[..16])), bytes).expect("write");
    }

    /// The names of the store's entries, and whatever lies in staging and trash.
    pub(crate) fn store(&self) -> (Vec<String>, Vec<String>) {
        let names = |folder: PathBuf| -> Vec<String> {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        };
        let mut entries = names(self.path("store"));
        entries.retain(|name| name.len() == 16);
        entries.sort();
        let mut left = names(self.path("store/staging"));
        left.extend(names(self.path("store/trash")));
        (entries, left)
    }
}

impl Run {
    /// Fails with all that was printed unless the code is `expected`.
    #[track_caller]
    pub(crate) fn exits(self, expected: i32) -> Self {
        assert_eq!(self.code, Some(expected), "\nstdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}
