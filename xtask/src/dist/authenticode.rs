//! The hook for Authenticode: a program of the user's that signs our `.exe` and `.dll` files before they are hashed. AMD's own are signed already,
//! and stay as they are.

use super::Error;
use super::member::{Draft, Origin};
use crate::files::{self, Named};
use archive::Content;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs `<program> <file>` for each file, which it changes in place.
#[derive(Debug)]
pub(crate) struct Signer {
    program: PathBuf,
    /// Signed copies; the artifacts are not touched.
    copies: tempfile::TempDir,
}

impl Signer {
    /// Copies are kept in a folder below `work` as long as this value.
    pub(crate) fn new(program: &Path, work: &Path) -> Result<Self, Error> {
        files::create_folder(work)?;
        let copies = tempfile::Builder::new().prefix("signed-").tempdir_in(work).named("create", work)?;
        Ok(Self { program: program.to_owned(), copies })
    }

    /// Each PE file of a component is replaced by its signed copy.
    pub(super) fn sign_all(&self, drafts: Vec<Draft>) -> Result<Vec<Draft>, Error> {
        drafts.into_iter().map(|draft| if is_ours(&draft) { self.sign(draft) } else { Ok(draft) }).collect()
    }

    fn sign(&self, draft: Draft) -> Result<Draft, Error> {
        let Content::File { path: from, .. } = &draft.content else { return Ok(draft) };
        let (actual, _) = crate::digest::Sha256::of_file(from).named("read", from)?;
        if let Some(expected) = draft.expected.filter(|expected| *expected != actual) {
            return Err(Error::Changed { path: from.clone(), expected, actual });
        }
        let copy = self.copies.path().join(&draft.path);
        files::create_folder(copy.parent().unwrap_or(self.copies.path()))?;
        std::fs::copy(from, &copy).named("copy", from)?;
        let output = Command::new(&self.program).arg(&copy).output().named("start", &self.program)?;
        if !output.status.success() {
            let words = [output.stdout, output.stderr].concat();
            return Err(Error::Signer {
                program: self.program.clone(),
                file: draft.path.clone(),
                status: output.status.to_string(),
                output: String::from_utf8_lossy(&words).trim().to_owned(),
            });
        }
        let size = std::fs::metadata(&copy).named("read", &copy)?.len();
        Ok(Draft { content: Content::File { path: copy, size }, expected: None, ..draft })
    }
}

fn is_ours(draft: &Draft) -> bool {
    let name = draft.path.to_ascii_lowercase();
    matches!(draft.origin, Origin::Component(_)) && (name.ends_with(".exe") || name.ends_with(".dll"))
}
