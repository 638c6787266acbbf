//! The code objects of one target.

use crate::Error;
use gfx::Target;
use gfx_sim::{Disassembler, Program};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A code object in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// The target that its folder is named after.
    pub target: Target,
    /// The component, e.g. `aiter-kernels`.
    pub component: String,
    /// Its name, without `.co`.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
}

/// The code objects under `folder/kernels/<target>/<component>`, sorted.
///
/// # Errors
/// [`Error::NoKernels`], [`Error::Read`], [`Error::Target`].
pub fn find(folder: &Path) -> Result<Vec<Found>, Error> {
    let mut found = Vec::new();
    let kernels = folder.join("kernels");
    for of_target in folders(&kernels).map_err(|_| Error::NoKernels { folder: folder.to_owned() })? {
        let target = Target::parse(&name_of(&of_target))
            .map_err(|source| Error::Target { path: of_target.clone(), source })?;
        let read =
            |path: &Path| folders(path).map_err(|source| Error::Read { path: path.to_owned(), source });
        for of_component in read(&of_target)? {
            for path in read(&of_component)? {
                if path.extension().is_some_and(|extension| extension == "co") {
                    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    found.push(Found { target, component: name_of(&of_component), name, path });
                }
            }
        }
    }
    if found.is_empty() {
        return Err(Error::NoKernels { folder: folder.to_owned() });
    }
    found.sort();
    Ok(found)
}

fn folders(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The loaded code objects of one component for one target.
#[derive(Debug)]
pub struct CodeObjects {
    target: Target,
    programs: BTreeMap<String, Program>,
    body: Sha256,
}

impl CodeObjects {
    /// None yet.
    pub fn new(target: Target) -> Self {
        Self { target, programs: BTreeMap::new(), body: Sha256::new() }
    }

    /// Loads one.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Load`].
    pub fn load(&mut self, found: &Found, disassembler: &Disassembler) -> Result<(), Error> {
        let path = &found.path;
        let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.clone(), source })?;
        let load = || Program::load(&bytes, &disassembler.run(path, self.target)?);
        let program = load().map_err(|source| Error::Load { path: path.clone(), source })?;
        self.add(&found.name, program);
        Ok(())
    }

    /// Adds one that is loaded.
    pub fn add(&mut self, name: &str, program: Program) {
        self.body.update(name);
        self.body.update(program.body());
        self.programs.insert(name.to_owned(), program);
    }

    /// What they were compiled for.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The digest of all their bodies: code, constants and descriptors, without what names the target.
    pub(crate) fn body(&self) -> Vec<u8> {
        self.body.clone().finalize().to_vec()
    }

    pub(crate) fn program(&self, name: &str) -> Result<&Program, Error> {
        let missing = || Error::Missing { name: name.to_owned(), target: self.target };
        self.programs.get(name).ok_or_else(missing)
    }
}
