//! LLVM's disassembler, as another process.

use crate::Error;
use gfx::Target;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An `llvm-objdump`.
#[derive(Debug, Clone)]
pub struct Disassembler {
    program: PathBuf,
    libraries: Option<OsString>,
}

impl Disassembler {
    /// The program by its path. `libraries`: folders for `LD_LIBRARY_PATH`, as an unpacked toolchain needs.
    pub fn new(program: &Path, libraries: Option<OsString>) -> Self {
        Self { program: program.to_owned(), libraries }
    }

    /// That of an LLVM 22 that was unpacked from Debian's packages into `tree`, as xtask's store has it.
    pub fn of_tree(tree: &Path) -> Self {
        Self::new(&tree.join("usr/lib/llvm-22/bin/llvm-objdump"), Some(libraries_of_tree(tree)))
    }

    /// The disassembly of a code object.
    ///
    /// # Errors
    /// [`Error::Disassembler`]: it does not start, or fails.
    pub fn run(&self, code_object: &Path, target: Target) -> Result<String, Error> {
        let mut command = Command::new(&self.program);
        // A generic target has no processor of its own name for every instruction; its code object says which it is.
        command.arg("-d").arg(format!("--mcpu={target}")).arg(code_object);
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        let failed = |message: String| Error::Disassembler { program: self.program.clone(), message };
        let output = command.output().map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The library folders of such a tree.
pub fn libraries_of_tree(tree: &Path) -> OsString {
    let folders = ["usr/lib/x86_64-linux-gnu", "usr/lib/llvm-22/lib"].map(|folder| tree.join(folder));
    let mut all = OsString::new();
    for folder in &folders {
        all.push(folder);
        all.push(":");
    }
    all
}
