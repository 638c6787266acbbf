//! The code objects of a release: what lies under `kernels/`.

use crate::element::Element;
use crate::{kernels, rms_norm};
use code_object::CodeObject;
use gfx::Target;
use std::io;
use std::path::{Path, PathBuf};

/// The most LDS of a workgroup, in bytes, on every target.
const LDS_LIMIT: u32 = 65_536;
const COMPONENT: &str = "engine";

/// One file, `<target>/<component>/<name>.co`.
#[derive(Debug)]
pub struct Entry {
    /// The target that the folder names.
    pub target: Target,
    /// The component that built it.
    pub component: String,
    /// Its name without `.co`.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
    /// What the content is, or why it is nothing.
    pub object: Result<CodeObject, code_object::Error>,
}

/// All code objects of a release.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// By path.
    pub entries: Vec<Entry>,
}

/// A folder that cannot be read as a release's.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system said no.
    #[error("failed to read `{path}`: {source}", path = .path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder that is no target's.
    #[error("`{path}` is no target's folder: {source}", path = .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why its name was refused.
        source: gfx::ParseError,
    },
    /// There is none at all.
    #[error("`{path}` holds no code objects", path = .0.display())]
    Empty(PathBuf),
}

impl Catalogue {
    /// Reads every code object below `root`.
    ///
    /// # Errors
    /// [`Error`]; a file that is no code object is kept as an entry and is no error here.
    pub fn read(root: &Path) -> Result<Self, Error> {
        let mut entries = Vec::new();
        for folder in list(root)? {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let target =
                Target::parse(&name).map_err(|source| Error::Folder { path: folder.clone(), source })?;
            for component in list(&folder)? {
                let files =
                    list(&component)?.into_iter().filter(|path| path.extension().is_some_and(|e| e == "co"));
                for path in files {
                    let bytes =
                        std::fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
                    entries.push(Entry {
                        target,
                        component: component.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                        object: CodeObject::parse(&bytes),
                        bytes,
                        path,
                    });
                }
            }
        }
        if entries.is_empty() { Err(Error::Empty(root.to_owned())) } else { Ok(Self { entries }) }
    }

    /// The targets that there is code for, ordered.
    pub fn targets(&self) -> Vec<Target> {
        let mut targets: Vec<Target> = self.entries.iter().map(|entry| entry.target).collect();
        targets.sort();
        targets.dedup();
        targets
    }

    /// The engine's code object `name` for a card: the exact one, or the generic one of its family.
    pub fn find(&self, name: &str, card: Target) -> Option<&Entry> {
        let is_it = |entry: &&Entry| entry.component == COMPONENT && entry.name == name;
        card.runs().find_map(|target| self.entries.iter().filter(is_it).find(|entry| entry.target == target))
    }

    /// What is wrong with the release's code objects; empty when nothing is.
    pub fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self.entries.iter().flat_map(faults_of).collect();
        for target in self.targets() {
            for name in kernels::OBJECTS.into_iter().chain([rms_norm::NAME]) {
                let has = |entry: &Entry| {
                    entry.target == target && entry.component == COMPONENT && entry.name == name
                };
                if !self.entries.iter().any(has) {
                    faults.push(format!("{target} has no {COMPONENT}/{name}.co"));
                }
            }
        }
        faults
    }
}

/// Files and folders, sorted, without hidden ones; a file where a folder should be holds nothing.
fn list(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let read = |source| Error::Read { path: folder.to_owned(), source };
    if folder.is_file() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let entry = entry.map_err(read)?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn faults_of(entry: &Entry) -> Vec<String> {
    let place = format!("{}/{}/{}.co", entry.target, entry.component, entry.name);
    let object = match &entry.object {
        Ok(object) => object,
        Err(error) => return vec![format!("{place}: {}", with_causes(error))],
    };
    let mut faults = Vec::new();
    if object.target != entry.target {
        faults.push(format!("{place} is for {}", object.target));
    }
    for kernel in &object.kernels {
        if kernel.wave_size != entry.target.wave_size() {
            faults.push(format!("{place}: {} is wave{}", kernel.name, kernel.wave_size));
        }
        if kernel.lds > LDS_LIMIT {
            faults.push(format!(
                "{place}: {} needs {} bytes of LDS, more than {LDS_LIMIT}",
                kernel.name, kernel.lds
            ));
        }
    }
    if entry.component == COMPONENT {
        faults
            .extend(faults_of_own(&entry.name, object).into_iter().map(|fault| format!("{place}: {fault}")));
    }
    faults
}

/// What the engine launches has to be there and take the arguments that it passes.
fn faults_of_own(name: &str, object: &CodeObject) -> Vec<String> {
    let mut faults = Vec::new();
    let of_rms_norm = Element::ALL
        .map(|element| (rms_norm::NAME, rms_norm::kernel_name(element), rms_norm::ARGUMENT_BYTES as usize));
    let own = kernels::table().into_iter().chain(of_rms_norm).filter(|(object, ..)| *object == name);
    for (_, kernel, bytes) in own {
        match object.kernel(&kernel).map(|kernel| kernel.kernarg_size as usize) {
            None => faults.push(format!("there is no kernel {kernel}")),
            Some(size) if size == bytes => {}
            Some(size) => faults.push(format!("{kernel} takes {size} bytes, not {bytes}")),
        }
    }
    if name == rms_norm::NAME && object.constant_u32(rms_norm::THREADS).is_none() {
        faults.push(format!("there is no constant {}", rms_norm::THREADS));
    }
    faults
}

/// An error's message and those of its causes, in one line.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    std::iter::once(error).chain(causes).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
